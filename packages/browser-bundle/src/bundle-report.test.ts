import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { makeElf } from '../tests/fabricated-binaries.ts';
import { readBundleList } from './bundle-list.ts';
import { buildBundleReport, renderBundleReport } from './bundle-report.ts';

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'bundle-')));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function place(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  await chmod(path, 0o755);
  return path;
}

const config = (bundleLibs?: string, bundleManifest?: string) => ({
  bundleLibs,
  bundleManifest,
  workingDirectory: folder,
});

test('the variable lists libraries as PATH lists folders', async () => {
  const a = await place('liba.so', makeElf({ needed: [] }));
  expect(await readBundleList(config(['liba.so', '', '/nowhere/libb.so'].join(delimiter)))).toEqual(
    [
      { path: a, source: 'BROWSER_BUNDLE_LIBS', optional: false, state: 'found' },
      {
        path: '/nowhere/libb.so',
        source: 'BROWSER_BUNDLE_LIBS',
        optional: false,
        state: 'missing',
      },
    ],
  );
});

test('the manifest lists what is optional and for which system', async () => {
  const a = await place('liba.so', makeElf({ needed: [] }));
  const manifest = await place(
    'bundle.toml',
    `
    [[lib]]
    path = "liba.so"
    [[lib]]
    path = "libb.so"
    optional = true
    [[lib]]
    path = "libc.dylib"
    target_os = "macos"
    [[lib]]
    path = "liba.so"
    target_os = "linux"
    `,
  );
  const source = `BROWSER_BUNDLE_MANIFEST ${manifest}`;
  expect(await readBundleList(config(undefined, 'bundle.toml'), 'linux')).toEqual([
    { path: a, source, optional: false, state: 'found' },
    { path: join(folder, 'libb.so'), source, optional: true, state: 'missing' },
    { path: join(folder, 'libc.dylib'), source, optional: false, state: 'elsewhere' },
    { path: a, source, optional: false, state: 'found' },
  ]);
});

test.each([
  { why: 'no TOML', text: 'lib = [', reason: /bundle\.toml: Invalid TOML/ },
  { why: 'without a path', text: '[[lib]]\noptional = true', reason: /lib\.0\.path/ },
  {
    why: 'for a system that there is none of',
    text: '[[lib]]\npath="a"\ntarget_os="beos"',
    reason: /target_os must be one of linux, macos, windows/,
  },
  { why: 'with a misspelt key', text: '[[lib]]\npath="a"\noptionel=true', reason: /optionel/ },
])('a manifest that is $why is reported', async ({ text, reason }) => {
  await place('bundle.toml', text);
  await expect(readBundleList(config(undefined, 'bundle.toml'))).rejects.toThrow(reason);
});

test('a missing manifest is reported', async () => {
  await expect(readBundleList(config(undefined, 'gone.toml'))).rejects.toThrow(
    /BROWSER_BUNDLE_MANIFEST .*gone\.toml: ENOENT/,
  );
});

test('a shipped library provides what the system does not, and its own needs count', async () => {
  const program = await place('program', makeElf({ needed: ['libvendor.so.1'] }));
  expect(await buildBundleReport(program)).toMatchObject({
    format: 'elf x86_64',
    missing: ['libvendor.so.1'],
    complete: false,
  });
  const vendor = await place('libvendor.so.1', makeElf({ needed: ['libother.so'] }));
  const report = await buildBundleReport(program, config('libvendor.so.1'));
  expect(report.dependencies).toEqual([
    { name: 'libvendor.so.1', resolved: vendor },
    { name: 'libother.so', resolved: null },
  ]);
  expect(report.missing).toEqual(['libother.so']);
  await place('libother.so', makeElf({ needed: [] }));
  expect(
    await buildBundleReport(program, config(['libvendor.so.1', 'libother.so'].join(delimiter))),
  ).toMatchObject({ missing: [], complete: true });
});

test('the report is a text for a person', async () => {
  const program = await place('program', makeElf({ needed: ['libvendor.so.1', 'libgone.so'] }));
  const launcher = await place('launcher', `#!/bin/sh\nexec ${program}\n`);
  const vendor = await place('libvendor.so.1', makeElf({ needed: [] }));
  const report = await buildBundleReport(launcher, config(`${vendor}${delimiter}/nowhere/libx.so`));
  expect(renderBundleReport(report)).toBe(
    `Bundle report for ${launcher}
  starts        ${program}
  format        elf x86_64
  dependencies  1 found, 1 missing
  to ship       1 of 2 listed

Dependencies
  libvendor.so.1  ${vendor}
  libgone.so      MISSING

Libraries to ship
  libvendor.so.1  ${vendor}, listed in BROWSER_BUNDLE_LIBS
  libx.so         /nowhere/libx.so (MISSING), listed in BROWSER_BUNDLE_LIBS

Incomplete: libgone.so, /nowhere/libx.so
`,
  );
});

test('a file that is no binary is reported', async () => {
  const report = await buildBundleReport(await place('text', 'just words'));
  expect(report).toMatchObject({ format: null, dependencies: [], complete: false });
  expect(renderBundleReport(report)).toMatch(
    /not a known binary format[^]*Unknown: nothing could be scanned\.\n$/,
  );
});
