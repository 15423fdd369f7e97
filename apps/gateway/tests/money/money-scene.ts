import { createAccountEvents, createKeys, type Keys } from '@model-gateway/accounts';
import type { DrawingAccount } from '@model-gateway/billing';
import { createBus } from '@model-gateway/bus';
import { createDatabase, type Database } from '@model-gateway/db';
import { newId, silentLog, systemClock } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';

/** A key that clients use, and the account that pays for it. */
export interface MoneyKey {
  readonly secret: string;
  readonly userId: string;
  readonly account: DrawingAccount;
  readonly multiplier: number;
}

/** Users, pools and wallets of every kind, and the points that the test added to them. */
export interface MoneyScene {
  readonly keys: readonly MoneyKey[];
  /** Adds points to the large pool, and moves some to the large wallet; retries until that is certain. */
  fund(points: number): Promise<void>;
  /** Points that were added and not moved to another account. */
  funded(account: DrawingAccount): number;
  close(): Promise<void>;
}

const LIFTED = 'lifted';
const SMALL = 'small';
const SMALL_QUOTA_USD = 0.004;
const LARGE_POINTS = 1_000_000;
// Enough for some dozen requests of these tests.
const SMALL_POINTS = 5_003;
const MOVE_TIMEOUT_MS = 180_000;

/** Fills an empty database. */
export async function createMoneyScene(databaseUrl: string, dataDir: string): Promise<MoneyScene> {
  const database = createDatabase({ databaseUrl, log: silentLog });
  const keyRules = keysOn(database, dataDir);
  const funds = new Map<string, number>();
  await database.plans.saveTier(LIFTED, {
    monthlyUsdQuota: null,
    monthlyTokenQuota: null,
    rpm: null,
  });
  await database.plans.saveTier(SMALL, {
    monthlyUsdQuota: SMALL_QUOTA_USD,
    monthlyTokenQuota: null,
    rpm: null,
  });

  const add = (account: DrawingAccount, points: number): void =>
    void funds.set(nameOf(account), (funds.get(nameOf(account)) ?? 0) + points);

  async function createAccount(tier: string): Promise<TestUser> {
    const id = newId();
    const email = `${id}@example.com`;
    await database.users.create({ id, email, name: '', passwordHash: 'not used' });
    await database.plans.assign(email, tier);
    return { id, email };
  }

  async function group(owner: TestUser): Promise<string> {
    const id = newId();
    await database.groups.create({ id, ownerId: owner.id, name: 'pool', description: '' });
    return id;
  }

  async function topUp(groupId: string, points: number): Promise<void> {
    const movement = { groupId, points, idempotencyKey: newId() };
    await twice(() => database.ledger.topUp(movement));
    add({ type: 'group', id: groupId }, points);
  }

  async function allocate(groupId: string, { id, email }: TestUser, points: number): Promise<void> {
    const movement = { groupId, email, points, idempotencyKey: newId() };
    await twice(() => database.ledger.allocate(movement));
    add({ type: 'group', id: groupId }, -points);
    add({ type: 'user', id }, points);
  }

  async function personalKey({ id: userId }: TestUser): Promise<MoneyKey> {
    const { secret } = await keyRules.create({ userId, name: 'personal' });
    return { secret, userId, account: { type: 'user', id: userId }, multiplier: 1 };
  }

  async function groupKey(
    groupId: string,
    member: TestUser,
    multiplier: number,
  ): Promise<MoneyKey> {
    await database.members.save(groupId, member.id, { costMultiplier: multiplier });
    const { secret } = await keyRules.create({ userId: member.id, name: 'group', groupId });
    return { secret, userId: member.id, account: { type: 'group', id: groupId }, multiplier };
  }

  const [rich, poor, onTier, onSmallTier] = [
    await createAccount(LIFTED),
    await createAccount(SMALL),
    await createAccount(LIFTED),
    await createAccount(SMALL),
  ];
  const [largePool, smallPool] = [await group(rich), await group(poor)];
  await database.members.save(largePool, poor.id, {});
  await topUp(largePool, 3 * LARGE_POINTS);
  await allocate(largePool, rich, LARGE_POINTS);
  await allocate(largePool, poor, SMALL_POINTS);
  await topUp(smallPool, SMALL_POINTS);

  return {
    keys: [
      await personalKey(rich),
      await personalKey(poor),
      await personalKey(onTier),
      await personalKey(onSmallTier),
      await groupKey(largePool, onTier, 1.5),
      await groupKey(largePool, onSmallTier, 0.37),
      await groupKey(smallPool, onTier, 1),
      await groupKey(smallPool, onSmallTier, 0),
    ],
    async fund(points) {
      await topUp(largePool, 2 * points);
      await allocate(largePool, rich, points);
    },
    funded: (account) => funds.get(nameOf(account)) ?? 0,
    close: () => database.close(),
  };
}

interface TestUser {
  readonly id: string;
  readonly email: string;
}

const nameOf = ({ type, id }: DrawingAccount): string => `${type}:${id}`;

/** Makes a movement twice concurrently, and retries during an outage: with its key it moves points once. */
async function twice(move: () => Promise<unknown>): Promise<void> {
  await waitUntil(
    async () => {
      const outcomes = await Promise.allSettled([move(), move()]);
      return outcomes.some(({ status }) => status === 'fulfilled');
    },
    { timeoutMs: MOVE_TIMEOUT_MS, what: 'a movement of points' },
  );
}

/** Creates keys like the management plane, without publishing the change. */
export function keysOn({ keys }: Database, dataDir: string): Keys {
  const { channels, counters } = createBus({ dataDir, log: silentLog });
  const events = createAccountEvents({ channels, counters, log: silentLog });
  return createKeys({ keys, events, clock: systemClock, activePerUserMax: 1_000 });
}
