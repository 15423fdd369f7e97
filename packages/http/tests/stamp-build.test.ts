import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = fileURLToPath(new URL('../scripts/stamp-build.mjs', import.meta.url));
const COMPILED = "/** A comment. */\nexport const BUILD_HASH = 'dev';\n";
const AUTHOR = { name: 'Ada', email: 'ada@example.com' };

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'model-gateway-stamp-'));
  file = join(folder, 'build-hash.js');
  await writeFile(file, COMPILED);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

// Excludes the repository in which the tests run.
const env = { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() };

async function commit(): Promise<string> {
  const git = (...args: readonly string[]) =>
    run('git', ['-c', `user.name=${AUTHOR.name}`, '-c', `user.email=${AUTHOR.email}`, ...args], {
      cwd: folder,
      env,
    });
  await git('init', '--quiet');
  await git('commit', '--quiet', '--allow-empty', '--message', 'x');
  return (await git('rev-parse', 'HEAD')).stdout.trim();
}

async function stamped(environment: NodeJS.ProcessEnv = env): Promise<string> {
  await run(process.execPath, [script, file], { env: environment });
  return readFile(file, 'utf8');
}

test('every build writes its commit into the compiled code', async () => {
  for (const _time of ['first', 'second']) {
    const hash = await commit();
    expect(await stamped()).toBe(COMPILED.replace('dev', hash));
  }
  expect(await readdir(folder)).toEqual(['.git', 'build-hash.js']);
});

test('without a repository it is dev, whatever was built before', async () => {
  expect(await stamped()).toBe(COMPILED);
  await writeFile(file, COMPILED.replace('dev', 'abc123'));
  expect(await stamped()).toBe(COMPILED);
});

test('without git it is dev', async () => {
  await commit();
  expect(await stamped({ PATH: folder })).toBe(COMPILED);
});
