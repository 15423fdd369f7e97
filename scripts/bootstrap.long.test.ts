import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { PINNED_TOOLS } from './pinned-tools.mjs';

const run = promisify(execFile);
const project = resolve(import.meta.dirname, '..');
const BUILD = `node -e "require('fs').mkdirSync('dist', { recursive: true })"`;
const WORKSPACE = `packages: ['apps/*', 'apps/*/tests', 'packages/*']\npmOnFail: ignore\n`;
/** A small workspace: the service and its command line, an app that the service does not need, and what each of them needs. */
const MANIFESTS = {
  '.': { devDependencies: { turbo: `link:${join(project, 'node_modules/turbo')}` } },
  'apps/standalone': { dependencies: { kernel: 'workspace:*' }, scripts: { build: BUILD } },
  'apps/standalone/tests': { devDependencies: { testkit: 'workspace:*' } },
  'apps/cli': { dependencies: { kernel: 'workspace:*' }, scripts: { build: BUILD } },
  'apps/other': { dependencies: { kernel: 'workspace:*' }, scripts: { build: BUILD } },
  'packages/kernel': { scripts: { build: BUILD } },
  'packages/testkit': { scripts: { build: BUILD } },
};
const BOTH = ['Dependencies', 'Build'];

let clone: string;

beforeEach(async () => {
  clone = await mkdtemp(join(tmpdir(), 'model-gateway-parts-'));
  await cp(import.meta.dirname, join(clone, 'scripts'), {
    recursive: true,
    filter: (source) => /(scripts|\.mjs)$/.test(source),
  });
  await cp(join(project, 'turbo.json'), join(clone, 'turbo.json'));
  await symlink(join(project, '.tools'), join(clone, '.tools'));
  await writeFile(join(clone, 'pnpm-workspace.yaml'), WORKSPACE);
  for (const folder of Object.keys(MANIFESTS)) await writeManifest(folder);
  await run(join(clone, '.tools/pnpm/pnpm'), ['install', '--lockfile-only', '--offline'], {
    cwd: clone,
  });
});
afterEach(() => rm(clone, { recursive: true }));

async function writeManifest(folder: string, more: object = {}): Promise<void> {
  const name = folder === '.' ? 'workspace' : folder.replace('/tests', '-tests').split('/').at(-1);
  const own = MANIFESTS[folder as keyof typeof MANIFESTS];
  const path = join(clone, folder, 'package.json');
  await mkdir(dirname(path), { recursive: true });
  const packageManager =
    folder === '.' ? { packageManager: `pnpm@${PINNED_TOOLS.pnpm.version}` } : {};
  await writeFile(
    path,
    JSON.stringify({ name, private: true, ...packageManager, ...own, ...more }),
  );
}

/** The steps that were necessary. */
async function ensure(part: 'all' | 'service'): Promise<readonly string[]> {
  const program = `
    const { ensureBuilt, ensureToolchain } = await import('./scripts/bootstrap.mjs');
    await ensureToolchain('${part}');
    await ensureBuilt('${part}');
  `;
  const { stdout } = await run('node', ['--input-type=module', '--eval', program], { cwd: clone });
  return [...stdout.matchAll(/^(\w+): \d+:\d\d$/gm)].map(([, step = '']) => step);
}

const has = (path: string): boolean => existsSync(join(clone, path));

test('a start installs and builds only what the service needs, and the tests add the rest', async () => {
  expect(await ensure('service')).toEqual(BOTH);
  expect(has('apps/cli/node_modules/kernel')).toBe(true);
  for (const needed of ['apps/standalone', 'apps/cli', 'packages/kernel'])
    expect(has(`${needed}/dist`)).toBe(true);
  expect(has('apps/standalone/tests/node_modules')).toBe(false);
  for (const other of ['apps/other', 'packages/testkit']) {
    expect(has(`${other}/node_modules`)).toBe(false);
    expect(has(`${other}/dist`)).toBe(false);
  }
  expect(await ensure('service')).toEqual([]);

  expect(await ensure('all')).toEqual(BOTH);
  expect(has('apps/standalone/tests/node_modules/testkit')).toBe(true);
  expect(has('apps/other/dist')).toBe(true);
  for (const part of ['service', 'all'] as const) expect(await ensure(part)).toEqual([]);
});

test('after a change, what a start brought up to date is not taken for all', async () => {
  await ensure('all');
  await writeManifest('apps/other', { version: '2.0.0' });
  expect(await ensure('service')).toEqual(BOTH);
  expect(has('apps/other/node_modules/kernel')).toBe(true);
  await writeManifest('apps/other');
  expect(await ensure('all')).toEqual(BOTH);
});

test('what was interrupted is done again, also when nothing has changed since before', async () => {
  await ensure('all');
  await writeManifest('apps/cli', { dependencies: { absent: '1.0.0' } });
  await expect(ensure('service')).rejects.toThrow('pnpm-lock.yaml does not match');
  await writeManifest('apps/cli');
  expect(await ensure('all')).toEqual(['Dependencies']);
});

test('a build that was removed is made again', async () => {
  await ensure('service');
  await rm(join(clone, 'packages/kernel/dist'), { recursive: true });
  expect(await ensure('service')).toEqual(['Build']);
  expect(has('packages/kernel/dist')).toBe(true);
});
