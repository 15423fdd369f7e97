import { createAccountEvents } from '@model-gateway/accounts';
import type { Bus } from '@model-gateway/bus';
import { newId, type JournalEntry } from '@model-gateway/kernel';
import {
  openStoreLine,
  testRedisUrl,
  usageEvent,
  usageEventsIn,
  waitUntil,
} from '@model-gateway/testkit';
import type { StoreLine } from '@model-gateway/testkit';
import { createGateway } from '../../src/app.ts';
import { readGatewayConfig } from '../../src/config.ts';
import { startSlowUpstream, type SlowUpstream } from '../chat/slow-upstream.ts';
import { groupsOf, keysOf, registerBackend, startGateway } from '../gateway.ts';
import type { GatewayUnderTest } from '../gateway.ts';

/** Answers with 100,000 tokens, whatever it is asked for: a hundred points. */
const LARGE = 'gpt-4o';
/** Two tokens: a point on a drained tier. */
const SMALL = 'gpt-4o-mini';
const HUNDRED_POINTS = { prompt_tokens: 1, completion_tokens: 100_000, total_tokens: 100_001 };
const POOL = 90;
const RATE = { pointsPerUsd: 100 };
const SETTINGS = { SERVICE_API_RATE_LIMIT_RPM: '100000' };

let gateway: GatewayUnderTest;
/** Two gateways, with a bus each. */
let urls: readonly [string, string];
let buses: readonly [Bus, Bus];
let upstreams: readonly SlowUpstream[];
let redisLines: StoreLine[];
let groupId: string;

beforeEach(async () => {
  redisLines = [];
  gateway = await startGateway(SETTINGS, {
    async reach(storeUrl) {
      if (storeUrl !== testRedisUrl()) return storeUrl;
      const line = await openStoreLine(storeUrl);
      redisLines.push(line);
      return line.url;
    },
  });
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    ...SETTINGS,
  });
  const peer = await gateway.test.openPeer();
  urls = [gateway.url, await gateway.test.serve(createGateway(config, peer))];
  buses = [gateway.test.context.bus, peer.bus];
  upstreams = [await startSlowUpstream(LARGE, HUNDRED_POINTS), await startSlowUpstream(SMALL)];
  for (const [index, upstream] of upstreams.entries()) {
    upstream.answerAll();
    const backend = { type: 'external', name: `up-${index}`, url: upstream.url };
    await registerBackend(gateway, backend);
  }
});
afterEach(async () => {
  for (const upstream of upstreams) await upstream.close();
  await gateway.test.close();
  for (const line of redisLines) await line.close();
});

/** A group with a pool, and a tier that its members have used up. */
async function openPool(): Promise<void> {
  const { database, bus, log } = gateway.test.context;
  await database.plans.saveTier('free', { monthlyTokenQuota: 10 });
  const events = createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
  await events.changed({ kind: 'tiers' });
  const owner = await database.users.findById(gateway.userId);
  if (owner === undefined) throw new Error('user not found');
  ({ id: groupId } = await groupsOf(gateway.test).groups.create(owner, { name: 'Team' }));
  await database.ledger.topUp({ groupId, points: POOL });
}

/** A member whose tier is used up; returns a key of the group. */
async function newMember(): Promise<string> {
  const { database } = gateway.test.context;
  const userId = newId();
  const email = `${userId}@example.com`;
  await database.users.create({ id: userId, email, name: '', passwordHash: 'not used' });
  await database.members.save(groupId, userId, { role: 'member' });
  await database.usage.record([usageEvent(userId, { total_tokens: 10, cost: 0 })], RATE);
  return (await keysOf(gateway.test).create({ userId, name: 'of the group', groupId })).secret;
}

/** Settles what both gateways served, as a recorder does. */
async function settleServed(): Promise<void> {
  for (const bus of buses) {
    const stopping = new AbortController();
    const record = async (batch: readonly JournalEntry[]): Promise<void> => {
      const events = usageEventsIn(batch);
      const { facts } = await gateway.test.context.database.usage.record(events, RATE);
      const settled = events.flatMap(({ call_id: id, user_id: userId }) =>
        id === undefined ? [] : [{ id, userId }],
      );
      await bus.admission.updateHints({ ...facts, settled });
    };
    const draining = bus.journal.drain(record, { batchSize: 100, signal: stopping.signal });
    await waitUntil(async () => (await bus.journal.lag()) === 0, { what: 'an empty journal' });
    stopping.abort();
    await draining;
  }
}

const pool = () =>
  gateway.test.context.database.billingFacts.account({ type: 'group', id: groupId });

async function topUp(points: number): Promise<void> {
  await gateway.test.context.database.ledger.topUp({ groupId, points });
  const account = { type: 'group' as const, id: groupId, ...(await pool()) };
  for (const bus of buses) await bus.admission.updateHints({ windows: [], accounts: [account] });
}

async function ask(key: string, model: string, at: 0 | 1, maxTokens = 10) {
  const response = await fetch(`${urls[at]}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: maxTokens,
    }),
  });
  const { error } = (await response.json()) as { error?: { message?: string } };
  return { status: response.status, message: error?.message };
}

test.each([
  { where: 'with Redis', isAlone: false },
  { where: 'without Redis', isAlone: true },
])(
  'a request that a pool cannot cover ends the pool for the member who sent it, and for nobody else, $where',
  async ({ isAlone }) => {
    await openPool();
    const [ann, bob] = [await newMember(), await newMember()];
    if (isAlone) for (const line of redisLines) line.cut();
    expect(await ask(ann, LARGE, 0)).toMatchObject({ status: 200 });
    await settleServed();
    expect(await pool()).toMatchObject({ balance: POOL });
    for (const at of [0, 1] as const) {
      expect(await ask(ann, SMALL, at)).toMatchObject({
        status: 402,
        message: expect.stringContaining('did not cover an earlier request of yours'),
      });
      expect(await ask(bob, SMALL, at)).toMatchObject({ status: 200 });
      await settleServed();
    }
    expect(await pool()).toMatchObject({ balance: POOL - 2 });
    // Of others as well a request must be covered before it is served.
    expect(await ask(bob, LARGE, 1, 100_000)).toMatchObject({
      status: 402,
      message: expect.stringMatching(/88 points are left of the 1\d\d that this request may cost/),
    });
    expect(await ask(bob, SMALL, 1)).toMatchObject({ status: 200 });
    await topUp(1);
    for (const at of [0, 1] as const)
      expect(await ask(ann, SMALL, at)).toMatchObject({ status: 200 });
  },
);
