import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPTS = fileURLToPath(new URL('.', import.meta.url));
/** Installs a pnpm that installs nothing. */
const NPM = `#!/bin/sh
mkdir -p .tools/node_modules/pnpm .tools/node_modules/.bin
echo '{ "version": "1.2.3" }' > .tools/node_modules/pnpm/package.json
printf '#!/bin/sh\\n' > .tools/node_modules/.bin/pnpm
chmod +x .tools/node_modules/.bin/pnpm
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clone-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('the first start of a clone keeps the Node that runs it', async () => {
  await cp(SCRIPTS, join(folder, 'scripts'), {
    recursive: true,
    filter: (source) => !source.endsWith('.ts'),
  });
  await writeFile(join(folder, 'package.json'), '{ "packageManager": "pnpm@1.2.3" }');
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'turbo.json'])
    await writeFile(join(folder, file), '');
  for (const inside of ['apps', 'packages', 'bin', '.tools/node24/bin'])
    await mkdir(join(folder, inside), { recursive: true });
  await writeFile(join(folder, '.tools/node24/bin/node'), 'Node 24');
  await writeFile(join(folder, 'bin/npm'), NPM);
  await writeFile(join(folder, 'bin/pnpm'), '#!/bin/sh\nexit 1\n');
  for (const program of ['npm', 'pnpm']) await chmod(join(folder, 'bin', program), 0o755);
  const program = `await (await import(${JSON.stringify(join(folder, 'scripts/bootstrap.mjs'))})).ensureToolchain()`;
  await run(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}` },
  });
  expect(await readFile(join(folder, '.tools/node_modules/pnpm/package.json'), 'utf8')).toContain(
    '1.2.3',
  );
  expect(await readFile(join(folder, '.tools/node24/bin/node'), 'utf8')).toBe('Node 24');
});
