import { manualClock, sha256Hex, type ManualClock } from '@model-gateway/kernel';
import {
  accessTokenFor,
  createTestContext,
  insertAccount,
  type RpcAnswer,
  type TestContext,
} from '@model-gateway/testkit';
import { createGateway } from 'gateway/app';
import { createRpc } from 'rpc/app';
import { readStandaloneConfig } from '../../src/config.ts';
import { GROUPS, KEYS, NOW, seededBatches, USERS } from './seeded-usage.ts';

const ADMIN_TOKEN = 'the admin token of the tests';
const POINTS_PER_USD = 100;

export type UserName = Exclude<keyof typeof USERS, 'gone'>;

/** Both APIs on a database with the seeded usage, at a time that the test chooses. */
export interface UsageScene {
  readonly clock: ManualClock;
  readonly query: TestContext['query'];
  /** Calls methods in one batch, and answers their results. */
  call(calls: readonly RpcCall[], user?: UserName): Promise<readonly unknown[]>;
  usageCsv(query: Readonly<Record<string, string>>, user?: UserName): Promise<string>;
  /** `POST /api/admin/usage/query`. */
  usageQuery(body: object): Promise<unknown>;
  close(): Promise<void>;
}

export interface RpcCall {
  readonly method: string;
  readonly params: object;
}

export async function openUsageScene(): Promise<UsageScene> {
  const test = await createTestContext();
  const clock = manualClock(NOW.getTime());
  const context = { ...test.context, clock };
  await addAccounts(context.database);
  await addUsage(context.database);
  const config = readStandaloneConfig({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  const rpcUrl = await test.serve(createRpc(config, context));
  const gatewayUrl = await test.serve(createGateway(config, context));
  const bearer = (user: UserName) => ({
    authorization: `Bearer ${accessTokenFor(context, USERS[user])}`,
  });

  return {
    clock,
    query: (sql, values) => test.query(sql, values),
    async call(calls, user = 'admin') {
      const response = await fetch(`${rpcUrl}/api/rpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(user) },
        body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
      });
      const answers = (await response.json()) as readonly RpcAnswer[];
      const byId = new Map(answers.map((answer) => [answer.id, answer]));
      return calls.map((call, id) => resultOf(call, byId.get(id)));
    },
    async usageCsv(query, user = 'admin') {
      const search = new URLSearchParams(query).toString();
      return textOf(await fetch(`${rpcUrl}/api/usage.csv?${search}`, { headers: bearer(user) }));
    },
    async usageQuery(body) {
      const response = await fetch(`${gatewayUrl}/api/admin/usage/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` },
        body: JSON.stringify(body),
      });
      return JSON.parse(await textOf(response)) as unknown;
    },
    close: () => test.close(),
  };
}

function resultOf({ method, params }: RpcCall, answer: RpcAnswer | undefined): unknown {
  if (answer?.result !== undefined) return answer.result;
  throw new Error(`${method} ${JSON.stringify(params)}: ${JSON.stringify(answer?.error)}`);
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return text;
}

type Stores = TestContext['context']['database'];

/** A tier that is used up soon, one that never is, a wallet and two pools. */
async function addAccounts(database: Stores): Promise<void> {
  const { users, groups, members, keys, ledger, plans } = database;
  for (const [name, id] of Object.entries(USERS))
    if (name !== 'gone') await insertAccount({ users }, `${name}@example.com`, id);
  await plans.saveTier('free', { monthlyUsdQuota: 4, monthlyTokenQuota: null, rpm: null });
  await plans.saveTier('roomy', { monthlyUsdQuota: null, monthlyTokenQuota: 9_000, rpm: null });
  await plans.assign('dan@example.com', 'roomy');
  const owners = { shop: USERS.bob, lab: USERS.cat };
  for (const name of ['shop', 'lab'] as const) {
    const id = GROUPS[name];
    await groups.create({ id, ownerId: owners[name], name, description: '' });
    await ledger.topUp({ groupId: id, points: 2_000 });
  }
  await members.save(GROUPS.shop, USERS.cat, {});
  await members.save(GROUPS.lab, USERS.dan, {});
  await ledger.allocate({ groupId: GROUPS.shop, email: 'cat@example.com', points: 500 });
  for (const [name, { keyId: id, ...key }] of Object.entries(KEYS)) {
    const shown = { keyPrefix: 'service-', keyHint: 'service-…' };
    await keys.create({ id, ...key, ...shown, name, keyHash: sha256Hex(name) });
  }
}

/** As the recorder does. */
async function addUsage({ usage }: Stores): Promise<void> {
  for (const batch of seededBatches()) {
    const [events, failures] = 'events' in batch ? [batch.events, []] : [[], batch.failures];
    await usage.record(events, { pointsPerUsd: POINTS_PER_USD, failures });
  }
}
