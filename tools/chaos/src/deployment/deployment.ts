import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { migrateDatabase } from '@model-gateway/db';
import {
  findRedisServer,
  startPostgres,
  startRedis,
  type EmbeddedStore,
} from '@model-gateway/embedded';
import { silentLog } from '@model-gateway/kernel';
import { preparedDataDir, randomFrom } from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { createAccounts, type Accounts } from './accounts.ts';
import { createAppProcess, type AppProcess } from './app-process.ts';
import { failOverRedis } from './fail-over-redis.ts';
import { startFront } from './front.ts';
import { createGpuNode } from './gpu-node.ts';
import { openLine, type Line } from './line.ts';
import { startScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts';

/** A full deployment: every app as processes of its own, with stores and upstreams. */
export interface Deployment {
  /** Every process by its name: `gateway-1`, `rpc-2`, `worker-1`, `tunnel-1`, `node`. */
  readonly processes: ReadonlyMap<string, AppProcess>;
  readonly gatewayUrl: string;
  readonly rpcUrl: string;
  readonly postgres: EmbeddedStore;
  readonly redis: EmbeddedStore;
  /** What the processes reach their stores and the node its tunnel through. */
  readonly lines: Readonly<Record<'postgres' | 'redis' | 'tunnel', Line>>;
  readonly upstreams: Readonly<Record<'left' | 'right', ScriptedUpstream>>;
  readonly video: RunningCloudVideo;
  readonly accounts: Accounts;
  readonly adminToken: string;
  /** A new Redis takes over with all data; `redis` is then its replica. */
  failOverRedis(): Promise<void>;
  /** Ends everything and removes its files; continues after a failure, and rejects with all of them. */
  close(): Promise<void>;
}

export const VIDEO_MODEL = 'video-chaos';
const POINTS_PER_USD = 1_000_000;

/** Long enough that a busy machine does not take a node for a lost one. */
const AGENT_TIMEOUT_SECS = 8;

interface DeploymentOptions {
  readonly seed: number;
  /** Whether the upstreams fail at some requests. */
  readonly areUpstreamsFaulty: boolean;
}

export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = (): Promise<void> => undoAll(undo);
  try {
    return { ...(await start(options, undo)), close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

async function start(
  { seed, areUpstreamsFaulty: isFaulty }: DeploymentOptions,
  undo: (() => Promise<unknown>)[],
): Promise<Omit<Deployment, 'close'>> {
  const folder = await preparedDataDir();
  undo.push(() => folder.remove());
  const dataDir = folder.path;
  const binary = await redisServer();
  const [postgres, redis] = await Promise.all([
    startPostgres({ dataDir, log: silentLog }),
    startRedis({ dataDir, log: silentLog, binary }),
  ]);
  undo.push(
    () => postgres.stop(),
    () => redis.stop(),
  );
  if (!folder.isMigrated) await migrateDatabase({ databaseUrl: postgres.url, log: silentLog });
  const open = async (port: string | number): Promise<Line> => {
    const line = await openLine(Number(port));
    undo.push(() => line.close());
    return line;
  };
  const lines = {
    postgres: await open(new URL(postgres.url).port),
    redis: await open(new URL(redis.url).port),
    tunnel: await open(0),
  };
  const upstreams = {
    left: await startScriptedUpstream({ random: randomFrom(seed + 1), isFaulty }),
    right: await startScriptedUpstream({ random: randomFrom(seed + 2), isFaulty }),
  };
  const video = await startCloudVideo();
  for (const server of [upstreams.left, upstreams.right, video]) undo.push(() => server.close());

  const adminToken = randomBytes(24).toString('hex');
  const env = {
    DATABASE_URL: withPort(postgres.url, lines.postgres.port),
    REDIS_URL: withPort(redis.url, lines.redis.port),
    SERVICE_REDIS_PREFIX: 'chaos:',
    SERVICE_ADMIN_TOKEN: adminToken,
    SERVICE_JWT_SECRET: randomBytes(32).toString('hex'),
    SERVICE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SERVICE_ACCESS_TOKEN_TTL_SECS: '86400',
    SERVICE_API_RATE_LIMIT_RPM: '1000000',
    SERVICE_HEALTH_INTERVAL_SECS: '2',
    SERVICE_BREAKER_OPEN_SECS: '2',
    SERVICE_AGENT_HEARTBEAT_SECS: '1',
    SERVICE_AGENT_TIMEOUT_SECS: String(AGENT_TIMEOUT_SECS),
    SERVICE_VIDEO_POLL_MS: '500',
    SERVICE_DRAIN_DELAY_SECS: '3',
    SERVICE_MAX_VIDEO_JOBS_PER_USER: '100000',
    SERVICE_DEMO: '0',
    SERVICE_MIGRATE: '0',
    POINTS_PER_USD: String(POINTS_PER_USD),
  };
  const processes = new Map<string, AppProcess>();
  async function add(name: string, app: string): Promise<AppProcess> {
    const own = join(dataDir, 'apps', name);
    await mkdir(own, { recursive: true });
    const made = createAppProcess(name, () => ({ app, env: { ...env, SERVICE_DATA_DIR: own } }));
    processes.set(name, made);
    undo.push(() => made.stop());
    return made;
  }
  const gateways = [await add('gateway-1', 'gateway'), await add('gateway-2', 'gateway')];
  const managers = [await add('rpc-1', 'rpc'), await add('rpc-2', 'rpc')];
  const workers = [await add('worker-1', 'video-worker'), await add('worker-2', 'video-worker')];
  const tunnel = await add('tunnel-1', 'agent-tunnel');
  await Promise.all([...gateways, ...managers, ...workers, tunnel].map((each) => each.start()));
  const [gatewayFront, rpcFront] = [await startFront(gateways), await startFront(managers)];
  for (const front of [gatewayFront, rpcFront]) undo.push(() => front.close());

  const accounts = await createAccounts({
    rpcUrl: rpcFront.url,
    databaseUrl: postgres.url,
    adminToken,
  });
  await registerBackends(gatewayFront.url, adminToken, { upstreams, video });
  // The node finds a restarted tunnel by its line.
  const follow = setInterval(() => {
    if (tunnel.url !== undefined) lines.tunnel.target = Number(new URL(tunnel.url).port);
  }, 50);
  undo.push(async () => clearInterval(follow));
  lines.tunnel.target = Number(new URL(tunnel.url ?? '').port);
  const node = await createGpuNode({
    rpcUrl: rpcFront.url,
    tunnelPort: lines.tunnel.port,
    folder: join(dataDir, 'apps'),
    token: accounts.adminJwt,
  });
  processes.set('node', node);
  undo.push(() => node.stop());
  await node.start();
  return {
    processes,
    gatewayUrl: gatewayFront.url,
    rpcUrl: rpcFront.url,
    postgres,
    redis,
    lines,
    upstreams,
    video,
    accounts,
    adminToken,
    async failOverRedis() {
      const replicaDir = join(dataDir, 'replica');
      const options = { redis, line: lines.redis, dataDir: replicaDir, binary };
      const primary = await failOverRedis(options);
      undo.push(() => primary.stop());
    },
  };
}

async function registerBackends(
  url: string,
  adminToken: string,
  { upstreams, video }: Pick<Deployment, 'upstreams' | 'video'>,
): Promise<void> {
  const backends = [
    { type: 'external', name: 'left', url: upstreams.left.url },
    { type: 'external', name: 'right', url: upstreams.right.url },
    { type: 'cloud-video', name: 'video', url: video.url, models: [VIDEO_MODEL] },
  ];
  for (const backend of backends) {
    const response = await fetch(`${url}/api/admin/backends`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}` },
      body: JSON.stringify(backend),
    });
    if (response.status !== 200) throw new Error(`${backend.name}: ${await response.text()}`);
  }
}

/** In reverse order; every step is tried. */
async function undoAll(undo: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.splice(0).toReversed())
    await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, 'the deployment did not end cleanly');
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

async function redisServer(): Promise<string> {
  const binary = await findRedisServer(process.env['PATH']);
  if (binary === undefined) throw new Error('a redis-server of version 7 or newer is needed');
  return binary;
}
