// `pnpm dev`: the service runs from its sources and starts again after each change of one; Vite serves the console. Its stores and its
// data are its own, in `.dev`, and stay until the next time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { portProblem } from './check-port.mjs';
import { continueOnNode24 } from './node24.mjs';
import { endChildrenOnSignal, fail, ROOT } from './run-command.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const problem = await portProblem(process.env);
if (problem !== undefined) fail(problem);
await continueOnNode24();
const releaseSignals = endChildrenOnSignal();
await ensureToolchain();
await ensureBuilt('service');
releaseSignals();

const { SERVICE_PORT = '8080', SERVICE_DATA_DIR = join(ROOT, '.dev') } = process.env;
const stores = await startStores(SERVICE_DATA_DIR);
const environment = {
  ...process.env,
  SERVICE_PORT,
  SERVICE_DATA_DIR,
  // Sources without their types are kept, so that a restart reads only what has changed.
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'dev'),
  ...stores.environment,
};
const console_ = join(ROOT, 'apps', 'console');
const children = [
  run(ROOT, [
    '--watch',
    '--watch-preserve-output',
    '--conditions=model-gateway-source',
    join(ROOT, 'apps', 'standalone', 'src', 'main.ts'),
  ]),
  run(console_, [join(console_, 'node_modules', 'vite', 'bin', 'vite.js')]),
];
for (const signal of SIGNALS)
  process.once(signal, () => {
    for (const child of children) child.kill(signal);
  });
// Either of them ends both: what is left would be half of it.
await Promise.race(children.map((child) => once(child, 'exit')));
for (const child of children) child.kill('SIGTERM');
for (const child of children)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
await stores.stop();

function run(cwd, args) {
  return spawn(process.execPath, args, { cwd, env: environment, stdio: 'inherit' });
}

/** They outlive the restarts of the service, which would take seconds more. */
async function startStores(dataDir) {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const { findRedisServer, startPostgres, startRedis } =
    await import('../packages/embedded/dist/index.js');
  const { silentLog: log } = await import('../packages/kernel/dist/index.js');
  const { DATABASE_URL, REDIS_URL } = process.env;
  const binary = await findRedisServer(process.env.PATH);
  const started = [];
  const own = {};
  if (DATABASE_URL === undefined) {
    const postgres = await startPostgres({ dataDir, log });
    started.push(postgres);
    own.DATABASE_URL = postgres.url;
  }
  // Without a Redis server the service keeps what is shared in its own process, as `npm start` does.
  if (REDIS_URL === undefined && binary !== undefined) {
    const redis = await startRedis({ dataDir, log, binary });
    started.push(redis);
    own.REDIS_URL = redis.url;
  }
  return {
    environment: own,
    stop: () => Promise.all(started.map((store) => store.stop())),
  };
}
