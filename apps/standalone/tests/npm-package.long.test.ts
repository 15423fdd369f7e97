import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fullTest, startProcess, temporaryDataDir } from '@model-gateway/testkit';
import { chatOnce, usageRows } from './standalone.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '..', '..', '..');
/** Where the workspace has the packages that npm would install. */
const WORKSPACE = ['apps/standalone', 'packages/db', 'packages/embedded'];

let folder = '';
let tarball = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'model-gateway-npm-'));
  const { stdout } = await run('node', ['scripts/pack.mjs', '--no-build', folder], {
    cwd: project,
  });
  tarball = stdout.trim();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the command of the package on an empty data directory, and sends a chat. */
async function startAndChat(installed: string): Promise<void> {
  const data = await temporaryDataDir();
  const service = await startProcess({
    script: join(installed, 'node_modules/model-gateway/bin/model-gateway.mjs'),
    env: { PATH: process.env['PATH'] ?? '', SERVICE_DATA_DIR: data.path },
    readyTimeoutMs: 180_000,
  });
  try {
    const { token } = await chatOnce(service.url, 'you@example.com');
    expect(await usageRows(service.url, token, 1)).toMatchObject([{ model: 'demo-chat' }]);
    expect((await fetch(`${service.url}/docs/viewer/swagger-ui.css`)).status).toBe(200);
    const cli = join(installed, 'node_modules/model-gateway/bin/gateway.mjs');
    const env = { PATH: process.env['PATH'], HOME: data.path, GATEWAY_URL: service.url };
    expect((await run('node', [cli, 'doctor'], { env }).catch(ended)).stdout).toMatch(
      /^ok +service +http/,
    );
  } finally {
    await service.stop();
    await data.remove();
  }
}

const ended = (error: unknown) => error as { readonly stdout: string };

/** What npm does, without the network: unpacks the package and puts exactly its dependencies beside it. */
async function unpack(): Promise<string> {
  const installed = join(folder, 'unpacked');
  const own = join(installed, 'node_modules', 'model-gateway');
  await mkdir(own, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  const manifest = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    bundleDependencies: string[];
  };
  for (const name of Object.keys(manifest.dependencies)) {
    if (manifest.bundleDependencies.includes(name)) continue;
    const link = join(installed, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(await workspaceFolder(name), link);
  }
  return installed;
}

async function workspaceFolder(name: string): Promise<string> {
  for (const user of WORKSPACE) {
    const place = join(project, user, 'node_modules', name);
    const isThere = await readFile(join(place, 'package.json')).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  throw new Error(`no workspace package has ${name}`);
}

test('the package runs without the repository and sends a first chat', async () => {
  const installed = await unpack();
  await startAndChat(installed);
  const command = join(installed, 'node_modules/model-gateway/bin/model-gateway.mjs');
  const help = await run('node', [command, '--help']);
  expect(help.stdout).toContain('SERVICE_PORT');
  const { version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect((await run('node', [command, '--version'])).stdout).toBe(`${version}\n`);
  await expect(run('node', [command, 'serve'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown argument serve'),
  });
  const licenses = await readFile(
    join(installed, 'node_modules/model-gateway/THIRD-PARTY-LICENSES.txt'),
    'utf8',
  );
  expect(licenses).toContain('zod ');
  expect(licenses).toContain('swagger-ui-dist ');
});

fullTest('npm installs the package into an empty folder', async () => {
  const installed = join(folder, 'installed');
  await mkdir(installed);
  await run('npm', ['install', '--prefix', installed, '--no-audit', '--no-fund', tarball], {
    cwd: installed,
  });
  await startAndChat(installed);
});
