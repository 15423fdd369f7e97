// What Redis takes for a request and keeps of users and events, and what Postgres keeps of a usage row.
import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';
import { cpuMs, importBuild } from '../processes.mjs';
import { eventsOf, PEOPLE_MAX } from '../recording/events.mjs';
import { seed } from '../usage/seed.mjs';

const fromPackage = (name) =>
  createRequire(new URL(`../../packages/${name}/package.json`, import.meta.url));
const { Client } = fromPackage('db')('pg');
const { Redis } = fromPackage('bus')('ioredis');

const REQUESTS = 20_000;
const AT_ONCE = 64;
const ROWS = 100_000;
const US_PER_MS = 1000;
const PREFIX = 'bench-capacity:';
const LIMIT_RPM = 1_000_000;

export async function measureRedis({ folder, redisUrl, redisPid }) {
  const { silentLog: log } = await importBuild('kernel');
  const { createBus } = await importBuild('bus');
  const bus = createBus({ redisUrl, dataDir: folder, prefix: PREFIX, log });
  const redis = new Redis(redisUrl);
  const usedBytes = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))[1]);
  await bus.start();
  try {
    const before = await usedBytes();
    await bus.admission.updateHints(factsOf(REQUESTS));
    const withUsers = await usedBytes();
    const spentBefore = cpuMs(redisPid);
    const events = [...eventsOf(PEOPLE_MAX, REQUESTS)];
    for (let from = 0; from < REQUESTS; from += AT_ONCE)
      await Promise.all(events.slice(from, from + AT_ONCE).map((event) => serve(bus, event)));
    const requestUs = ((cpuMs(redisPid) - spentBefore) * US_PER_MS) / REQUESTS;
    const waiting = await bus.journal.lag();
    const eventBytes = ((await usedBytes()) - withUsers) / waiting;
    return { requestUs, userBytes: (withUsers - before) / REQUESTS, eventBytes };
  } finally {
    redis.disconnect();
    await bus.close();
  }
}

const month = () => new Date().toISOString().slice(0, 7);
const accountOf = (id) => ({ type: 'user', id });

function factsOf(users) {
  const ids = Array.from({ length: users }, () => randomUUID());
  const account = { balance: 1_000_000, hasHistory: true, increases: 0, version: 1 };
  return {
    windows: ids.map((userId) => ({ userId, month: month(), costUsd: 1, tokens: 1, version: 1 })),
    accounts: ids.map((id) => ({ ...accountOf(id), ...account })),
    budgets: [],
    settled: [],
  };
}

/** What a gateway asks of Redis for one request. */
async function serve({ admission, journal }, event) {
  const { user_id: userId, id } = event;
  const account = accountOf(userId);
  const amounts = { tokens: 200, costUsd: 0.001, points: 1000 };
  const tier = { monthlyUsdQuota: 1_000_000, monthlyTokenQuota: null };
  const { outcome } = await admission.admit({
    knownEpoch: 0,
    limits: [{ name: `key:${event.key_id}`, requestsPerMinute: LIMIT_RPM }],
    window: { userId, month: month() },
    account,
    call: {
      id,
      userId,
      callsMax: AT_ONCE,
      reservation: { ...amounts, tier, account, isPriced: true },
    },
  });
  if (outcome !== 'admitted') throw new Error(`a request was not admitted: ${outcome}`);
  await journal.append({ id, body: JSON.stringify(event) });
  admission.endCall({
    id,
    userId,
    endsReservation: true,
    endsCall: true,
    usage: amounts,
  });
}

/** Bytes of a usage row with its indexes and the kept sums. */
export async function measureRow(databaseUrl) {
  const { silentLog: log } = await importBuild('kernel');
  const { migrateDatabase } = await importBuild('db');
  await migrateDatabase({ databaseUrl, log });
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const sizeOf = async () => {
      const { rows } = await client.query(
        'SELECT pg_database_size(current_database())::float8 AS bytes',
      );
      return rows[0].bytes;
    };
    const before = await sizeOf();
    await seed(client, ROWS, () => undefined);
    return ((await sizeOf()) - before) / ROWS;
  } finally {
    await client.end();
  }
}
