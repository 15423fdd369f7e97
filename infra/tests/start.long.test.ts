import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  freePort,
  fullSize,
  fullTable,
  startProcess,
  waitUntil,
  type TestProcess,
} from '@model-gateway/testkit';
import { appSettings, requiredVariables, serverSettings } from './app-settings.ts';
import { deployApps, type DeployedApps } from './deployed-apps.ts';
import { makeEnvironmentFile, readEnvironmentFile } from './environment-file.ts';
import { infraFolder } from './infra-folder.ts';
import { commandOf, runContainer, startPod } from './pod-processes.ts';
import { containerOf, readBase } from './manifest.ts';
import { openStores, type Stores } from './stores.ts';

const APPS = Object.keys(appSettings);
const SERVERS = Object.keys(serverSettings);
/** The browser tool needs these off loopback, although its settings are optional. */
const NEEDED_OFF_LOOPBACK = ['BROWSER_TOKEN', 'BROWSER_ALLOWED_HOSTS'];
const AT_ONCE = fullSize(10, { small: 2 });

const manifests = readBase();
const made = readEnvironmentFile(makeEnvironmentFile());
const builtHash = /BUILD_HASH = '(\w+)'/.exec(
  readFileSync(join(infraFolder, '../packages/http/dist/build-hash.js'), 'utf8'),
)?.[1];
let deployed: DeployedApps;
let stores: Stores;
let volumes = '';

beforeAll(async () => {
  // The deployed folders of the servers are tested with the whole installation; here their builds are enough.
  const browserTool = await deployApps(['browser-tool']);
  const folderOf = (app: string): string =>
    SERVERS.includes(app) ? join(infraFolder, '..', 'apps', app) : browserTool.folderOf(app);
  deployed = { ...browserTool, folderOf };
  volumes = await mkdtemp(join(tmpdir(), 'model-gateway-volumes-'));
  stores = await openStores();
});
afterAll(async () => {
  await stores.close();
  await deployed.remove();
  await rm(volumes, { recursive: true, force: true });
});

const optionsOf = (app: string) => ({
  container: containerOf(manifests, app),
  deployed,
  volumes,
  secrets: { ...made, DATABASE_URL: stores.databaseUrl, REDIS_URL: stores.redisUrl },
});

const needed = (app: string): readonly string[] =>
  app === 'browser-tool' ? NEEDED_OFF_LOOPBACK : requiredVariables(app);

/** All required variables of an app at once; each of them alone with `TEST_FULL=1`. */
const MISSING = fullTable(
  [
    ...APPS.map((app) => ({ app, variables: needed(app) })),
    ...APPS.flatMap((app) => needed(app).map((variable) => ({ app, variables: [variable] }))),
  ],
  { small: APPS.length },
);

test.each(MISSING)(
  '$app without $variables names them and exits with status 1',
  async ({ app, variables }) => {
    const changes = Object.fromEntries(variables.map((variable) => [variable, undefined]));
    const ended = await runContainer({ ...optionsOf(app), changes });
    for (const variable of variables)
      expect(ended.output).toMatch(new RegExp(`^${app}: .*\\b${variable}\\b`, 'm'));
    expect(ended.status).toBe(1);
  },
);

test('the browser tool passes its probe, and rejects requests without its token', async () => {
  const port = String(await freePort());
  const options = optionsOf('browser-tool');
  const { script, args, env } = commandOf(options);
  const [, ...probe] = options.container.livenessProbe?.exec?.command ?? [];
  const here = (text: string): string => text.replace('8090', port);
  const tool = await startProcess({ script, args: args.map(here), env, readyPath: null });
  try {
    await waitUntil(
      async () => {
        await promisify(execFile)(process.execPath, probe.map(here), { env });
        return true;
      },
      { timeoutMs: 180_000, what: 'the probe' },
    );
    const unauthenticated = await fetch(`http://127.0.0.1:${port}/health`);
    expect(unauthenticated.status).toBe(401);
  } finally {
    await tool.stop();
  }
});

describe(`${AT_ONCE} apps that start at once on an empty database without optional variables`, () => {
  let started: readonly TestProcess[] = [];

  beforeAll(async () => {
    const apps = Array.from(
      { length: AT_ONCE },
      (_, index) => SERVERS[index % SERVERS.length] ?? '',
    );
    started = await Promise.all(
      apps.map((app) => {
        const left = Object.keys(made).filter((name) => !requiredVariables(app).includes(name));
        const none = [...left, 'SERVICE_BUILD_HASH'].map((name) => [name, undefined] as const);
        const changes = { SERVICE_MIGRATE: '1', ...Object.fromEntries(none) };
        return startPod({ ...optionsOf(app), changes });
      }),
    );
  });
  afterAll(async () => {
    await Promise.all(started.map((one) => one.kill()));
  });

  test('migrate it once', async () => {
    const migrations = await stores.query<{ migration_name: string; finished: boolean }>(
      'SELECT migration_name, finished_at IS NOT NULL AS finished FROM _prisma_migrations',
    );
    expect(migrations.length).toBeGreaterThan(0);
    expect(migrations.filter(({ finished }) => !finished)).toEqual([]);
    const names = migrations.map(({ migration_name }) => migration_name);
    expect(new Set(names).size).toBe(names.length);
    const migrators = started.filter((one) => one.output().includes('the database was migrated'));
    expect(migrators).toHaveLength(1);
  });

  test('report the commit of the build', async () => {
    expect(builtHash).toMatch(/^(?:[0-9a-f]{40}|dev)$/);
    for (const { url } of started) {
      const health = await fetch(`${url}/healthz`);
      expect(await health.json()).toMatchObject({ status: 'ok', build_hash: builtHash });
    }
  });
});
