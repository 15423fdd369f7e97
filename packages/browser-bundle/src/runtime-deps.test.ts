import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import {
  makeElf,
  makeFatMachO,
  makeMachO,
  makePortableExecutable,
} from '../tests/fabricated-binaries.ts';
import { BinaryFormatError } from './binary-file.ts';
import { collectRuntimeDeps, scanRuntime } from './runtime-deps.ts';

const ARM = 0x0100000c;
const X64 = 0x01000007;

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'deps-')));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function place(path: string, content: string | Buffer): Promise<string> {
  const whole = join(folder, path);
  await mkdir(dirname(whole), { recursive: true });
  await writeFile(whole, content);
  await chmod(whole, 0o755);
  return whole;
}

describe('ELF', () => {
  test('a RUNPATH with $ORIGIN, a library of a library, and one that is nowhere', async () => {
    const program = await place(
      'bin/program',
      makeElf({ needed: ['liba.so', 'libgone.so'], runPath: '$ORIGIN/../lib' }),
    );
    const a = await place(
      'lib/liba.so',
      makeElf({ needed: ['libb.so'], runPath: '${ORIGIN}/deep' }),
    );
    const b = await place('lib/deep/libb.so', makeElf({ needed: ['liba.so'] }));
    expect(await collectRuntimeDeps(program)).toEqual([
      { name: 'liba.so', resolved: a },
      { name: 'libgone.so', resolved: null },
      { name: 'libb.so', resolved: b },
    ]);
  });

  test('an RPATH is handed down to libraries and a RUNPATH is not', async () => {
    await place('lib/liba.so', makeElf({ needed: ['libb.so'] }));
    const b = await place('lib/libb.so', makeElf({ needed: [] }));
    const old = await place('old', makeElf({ needed: ['liba.so'], rpath: '$ORIGIN/lib' }));
    const modern = await place('modern', makeElf({ needed: ['liba.so'], runPath: '$ORIGIN/lib' }));
    expect((await collectRuntimeDeps(old))[1]).toEqual({ name: 'libb.so', resolved: b });
    expect((await collectRuntimeDeps(modern))[1]).toEqual({ name: 'libb.so', resolved: null });
  });

  test('a library of another architecture is passed over', async () => {
    await place('arm/liba.so', makeElf({ needed: [], machine: 183 }));
    const right = await place('x64/liba.so', makeElf({ needed: [] }));
    const program = await place(
      'program',
      makeElf({ needed: ['liba.so'], runPath: '$ORIGIN/arm:$ORIGIN/x64' }),
    );
    expect(await collectRuntimeDeps(program)).toEqual([{ name: 'liba.so', resolved: right }]);
  });

  test('node itself needs libraries of this system, which are found', async () => {
    const dependencies = await collectRuntimeDeps(process.execPath);
    expect(dependencies.length).toBeGreaterThan(0);
    expect(dependencies.filter(({ resolved }) => resolved === null)).toEqual([]);
  });
});

describe('Mach-O', () => {
  test('tokens are expanded, and the libraries of the system need no file', async () => {
    const program = await place(
      'App/program',
      makeMachO(
        [
          '/usr/lib/libSystem.B.dylib',
          '@rpath/liba.dylib',
          '@executable_path/../Frameworks/libb.dylib',
          '@rpath/libgone.dylib',
        ],
        ['@loader_path/lib'],
      ),
    );
    const a = await place('App/lib/liba.dylib', makeMachO([]));
    const b = await place('Frameworks/libb.dylib', makeMachO([]));
    expect(await collectRuntimeDeps(program)).toEqual([
      { name: '/usr/lib/libSystem.B.dylib', resolved: '/usr/lib/libSystem.B.dylib' },
      { name: '@rpath/liba.dylib', resolved: a },
      { name: '@executable_path/../Frameworks/libb.dylib', resolved: b },
      { name: '@rpath/libgone.dylib', resolved: null },
    ]);
  });

  test('a fat file is read for the architecture of this machine', async () => {
    const [own, other] = process.arch === 'arm64' ? [ARM, X64] : [X64, ARM];
    const program = await place(
      'program',
      makeFatMachO([
        { cpu: other, binary: makeMachO(['/usr/lib/other.dylib']) },
        { cpu: own, binary: makeMachO(['/usr/lib/own.dylib']) },
      ]),
    );
    expect((await collectRuntimeDeps(program)).map(({ name }) => name)).toEqual([
      '/usr/lib/own.dylib',
    ]);
  });

  test('a Java class, which begins with the same bytes, is no Mach-O file', async () => {
    const bytes = Buffer.from('cafebabe0000003d00000000', 'hex');
    expect(await scanRuntime(await place('A.class', bytes))).toMatchObject({ binary: undefined });
  });
});

describe('PE', () => {
  test('both import tables, whatever the case of the names, without the contracts of Windows', async () => {
    const program = await place(
      'program.exe',
      makePortableExecutable(
        ['CHROME_ELF.dll', 'KERNEL32.dll', 'api-ms-win-core-path-l1-1-0.dll'],
        ['Delayed.dll'],
      ),
    );
    const beside = await place('chrome_elf.dll', makePortableExecutable(['ntdll.dll']));
    expect(await collectRuntimeDeps(program)).toEqual([
      { name: 'CHROME_ELF.dll', resolved: beside },
      { name: 'KERNEL32.dll', resolved: null },
      { name: 'Delayed.dll', resolved: null },
      { name: 'ntdll.dll', resolved: null },
    ]);
    expect((await scanRuntime(program)).binary).toMatchObject({
      format: 'pe',
      architecture: 'x86_64',
    });
  });
});

describe('a launcher script', () => {
  const binary = makeElf({ needed: ['libgone.so'] });

  test.each([
    { why: 'with variables', script: 'NAME=app\nDIR="FOLDER/$NAME"\nexec $DIR/${NAME} "$@"' },
    {
      why: 'by its own folder',
      script: 'HERE="`dirname "$0"`"\nexec -a "$0" "$HERE/app/app" "$@"',
    },
    {
      why: 'by another folder',
      script: 'DIR="$(dirname "$(readlink -f "$0")")/app"\nexec "$DIR/app"',
    },
    {
      why: 'with a choice',
      script: "if x; then\n  exec /nowhere/gdb y\nelse\n  exec 'FOLDER/app/app'\nfi",
    },
    { why: 'in a chain', script: 'exec FOLDER/second' },
  ])('is followed to its binary $why', async ({ script }) => {
    const program = await place('app/app', binary);
    await place('second', `#!/bin/sh\nexec ${program}\n`);
    const launcher = await place('launcher', `#!/bin/sh\n${script.replaceAll('FOLDER', folder)}\n`);
    await symlink(launcher, join(folder, 'link'));
    expect(await scanRuntime(join(folder, 'link'))).toMatchObject({
      path: program,
      dependencies: [{ name: 'libgone.so', resolved: null }],
    });
  });

  test('that leads nowhere or to itself ends where it is', async () => {
    const lost = await place('lost', '#!/bin/sh\nexec /nowhere/at/all\n');
    const circle = await place('circle', `#!/bin/sh\nexec ${folder}/circle\n`);
    expect(await scanRuntime(lost)).toMatchObject({ path: lost, binary: undefined });
    expect(await scanRuntime(circle)).toMatchObject({ path: circle, binary: undefined });
  });
});

test('a broken file is an error or no binary, and never hangs or crashes', async () => {
  const whole = [
    makeElf({ needed: ['liba.so'], runPath: '$ORIGIN' }),
    makeMachO(['/usr/lib/a.dylib'], ['@loader_path']),
    makePortableExecutable(['a.dll'], ['b.dll']),
  ];
  const damaged = fc
    .tuple(fc.constantFrom(...whole), fc.nat(600), fc.integer({ min: 0, max: 255 }), fc.nat(6000))
    .map(([bytes, at, value, length]) => {
      const copy = Buffer.from(bytes.subarray(0, Math.max(4, length)));
      if (at >= 4 && at < copy.length) copy[at] = value;
      return copy;
    });
  await fc.assert(
    fc.asyncProperty(damaged, async (bytes) => {
      const path = await place('damaged', bytes);
      const outcome = await collectRuntimeDeps(path).then(
        () => 'scanned',
        (error: unknown) => (error instanceof BinaryFormatError ? 'refused' : error),
      );
      expect(['scanned', 'refused']).toContain(outcome);
    }),
    { numRuns: 300 },
  );
});
