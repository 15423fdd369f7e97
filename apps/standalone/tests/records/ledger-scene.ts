import { RETRY_REASONS } from '@model-gateway/router';
import { createServiceRuntime } from '@model-gateway/service';
import {
  createTestAccount,
  createTestContext,
  rpcCall,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createGateway } from 'gateway/app';
import { createRpc } from 'rpc/app';
import { createVideoWorker } from 'video-worker/app';
import { readStandaloneConfig } from '../../src/config.ts';
import { ANSWER, LANES, MODELS, PRICED, ROUTES, type Lane, type Payer } from './ledger-requests.ts';
import { watchStores, type WatchedStores } from './watched-admission.ts';

const POINTS_PER_USD = 1_000_000;
const LARGE_POINTS = 1_000_000;
const SMALL_POINTS = 900;
const SMALL_QUOTA_USD = 0.002;

/** Who pays for the requests of a lane. */
export interface LaneKey {
  readonly userId: string;
  readonly secret: string;
}

/** The whole service in one process, with a user and a key for each lane. */
export interface LedgerScene {
  readonly test: TestContext;
  readonly url: string;
  readonly upstream: RunningChatUpstream;
  readonly stores: WatchedStores;
  readonly keys: ReadonlyMap<Lane, LaneKey>;
  /** Calls a method as the admin, and answers its result. */
  call(method: string, params: object): Promise<unknown>;
  close(): Promise<void>;
}

export async function openLedgerScene(): Promise<LedgerScene> {
  const test = await createTestContext();
  const upstream = await startChatUpstream({ models: MODELS, answer: () => ANSWER });
  const { database, bus } = test.context;
  const stores = watchStores(bus.admission, database.usage);
  const context = {
    ...test.context,
    bus: { ...bus, admission: stores.admission },
    database: { ...database, usage: stores.usage },
  };
  const config = {
    ...readStandaloneConfig({
      SERVICE_API_RATE_LIMIT_RPM: '100000',
      SERVICE_BREAKER_FAILURES: '100000',
      POINTS_PER_USD: String(POINTS_PER_USD),
      SERVICE_REDIS_PREFIX: uniquePrefix(),
    }),
    queueRedisUrl: testRedisUrl(),
  };
  const runtime = createServiceRuntime(config, context);
  const gateway = createGateway(config, context, { runtime });
  const url = await test.serve({
    ...gateway,
    start: async () => {
      await runtime.start();
      await gateway.start();
    },
    stop: async () => {
      await gateway.stop();
      await runtime.stop();
    },
  });
  const rpcUrl = await test.serve(createRpc(config, context, { runtime }));
  await test.serve(createVideoWorker(config, context, { router: runtime.router }));
  await runtime.router.registry.register({
    name: 'upstream',
    type: 'external',
    url: upstream.url,
    apiKey: null,
    models: [],
    capabilities: null,
  });
  const { token } = await createTestAccount(context, 'admin@example.com');
  await addRoutes(context);
  const keys = await addLanes(context, rpcUrl);
  const [{ secret } = { secret: '' }] = keys.values();
  await waitUntil(() => areListed(url, secret));
  return {
    test,
    url,
    upstream,
    stores,
    keys,
    async call(method, params) {
      const { result, error } = await rpcCall(rpcUrl, method, params, token);
      if (error !== undefined) throw new Error(JSON.stringify(error));
      return result;
    },
    async close() {
      await test.close();
      await upstream.close();
    },
  };
}

/** Whether the gateway knows all routes. */
async function areListed(url: string, secret: string): Promise<boolean> {
  const found = await Promise.all(
    Object.keys(ROUTES).map((route) =>
      fetch(`${url}/v1/models/${route}`, { headers: { 'x-api-key': secret } }),
    ),
  );
  await Promise.all(found.map((response) => response.text()));
  return found.every(({ status }) => status === 200);
}

type Context = TestContext['context'];

async function addRoutes({ database, bus }: Context): Promise<void> {
  for (const [model, { targets, hedgeAfterMs }] of Object.entries(ROUTES)) {
    await database.routeRules.set({
      model,
      targets: targets.map((target, priority) => ({ model: target, priority, weight: 1 })),
      attempts: targets.length,
      retryOn: RETRY_REASONS,
      ...(hedgeAfterMs === undefined ? {} : { hedgeAfterMs }),
    });
    await bus.channels.publish('routes', model);
  }
}

const SETTINGS: Partial<Record<Payer, object>> = {
  cache: { cache: { ttl_secs: 3_600 } },
  budget: { budget_usd: 0.003, budget_period: 'month' },
  'one model': { models: [PRICED] },
};

async function addLanes(context: Context, rpcUrl: string): Promise<ReadonlyMap<Lane, LaneKey>> {
  const { plans } = context.database;
  await plans.saveTier('free', { monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null });
  await plans.saveTier('small', {
    monthlyUsdQuota: SMALL_QUOTA_USD,
    monthlyTokenQuota: null,
    rpm: null,
  });
  const keys = new Map<Lane, LaneKey>();
  for (const lane of LANES) {
    const { name, payer } = lane;
    const email = `${name.replaceAll(' ', '-')}@example.com`;
    const { id: userId, token } = await createTestAccount(context, email);
    if (payer.startsWith('small')) await plans.assign(email, 'small');
    const groupId = await fund(context, lane, userId, email);
    const params = { name, ...SETTINGS[payer], ...(groupId && { group_id: groupId }) };
    const { result, error } = await rpcCall(rpcUrl, 'keys.create', params, token);
    if (error !== undefined) throw new Error(JSON.stringify(error));
    keys.set(lane, { userId, secret: (result as { readonly key: string }).key });
  }
  return keys;
}

/** Fills the wallet or the pool of a lane; answers the group of the pool. */
async function fund(
  { database }: Context,
  { name, payer }: Lane,
  userId: string,
  email: string,
): Promise<string | undefined> {
  if (!payer.endsWith('wallet') && !payer.endsWith('pool')) return undefined;
  const { groups, ledger, members } = database;
  const groupId = crypto.randomUUID();
  const points = payer.startsWith('small') ? SMALL_POINTS : LARGE_POINTS;
  await groups.create({ id: groupId, ownerId: userId, name, description: '' });
  await ledger.topUp({ groupId, points });
  if (payer.endsWith('pool')) {
    await members.save(groupId, userId, { costMultiplier: payer === 'pool' ? 1.5 : 0.37 });
    return groupId;
  }
  await ledger.allocate({ groupId, email, points });
  return undefined;
}
