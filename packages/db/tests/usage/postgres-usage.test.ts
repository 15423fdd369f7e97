import type { UsageEvent } from '@model-gateway/contracts';
import { newId, sha256Hex, silentLog } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { Client } from 'pg';
import { usageEvent as event } from '../usage-event.ts';
import { createDatabase } from '../../src/database.ts';

/** Who waits for the settlement lock. */
const WAITING = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

describe('usage in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  const write = async (events: readonly UsageEvent[]) =>
    (await database.usage.record(events, { pointsPerUsd: 100 })).added;

  const partitionOf = async (id: string) => {
    const rows = await database.raw.query<{ partition: string }>(
      'SELECT tableoid::regclass::text AS partition FROM usage_records WHERE id = $1',
      [id],
    );
    return rows.map((row) => row.partition);
  };

  it('keeps what an event says', async () => {
    const userId = newId();
    const served = {
      upstream: 'up\u0000',
      cached_tokens: 1,
      latency_ms: 1e12,
      first_token_ms: 20,
      status: 499,
      cache_write_tokens: 1e12,
      images: 2,
      audio_seconds: 1.5,
      media_tokens: { audio_input: 2, cached_audio_input: 1, audio_output: 1, image_output: 0 },
      price: {
        source: 'override' as const,
        pattern: 'demo',
        backend: 'up\u0000',
        input_per_million: 0.1,
        output_per_million: 2,
      },
      cached: true,
    };
    const tagged = event({
      user_id: userId,
      ref_id: 'a"b,{}\\c',
      cost: null,
      group_id: newId(),
      ...served,
    });
    expect(await write([tagged])).toBe(1);
    const { records, total } = await database.usage.list({ userId, limit: 10, offset: 0 });
    expect(total).toBe(1);
    expect(records).toEqual([
      {
        id: tagged.id,
        apiKeyId: 'service-',
        keyId: tagged.key_id,
        userId,
        project: 'default',
        groupId: tagged.group_id,
        model: 'demo-chat',
        surface: 'gateway',
        promptTokens: 3,
        completionTokens: 4,
        totalTokens: 7,
        cost: null,
        points: null,
        accountType: null,
        refId: 'a"b,{}\\c',
        createdAt: new Date('2026-03-04T05:06:07.890Z'),
        upstream: 'up',
        cachedTokens: 1,
        latencyMs: 2_147_483_647,
        firstTokenMs: 20,
        status: 499,
        cacheWriteTokens: 2_147_483_647,
        images: 2,
        audioSeconds: 1.5,
        mediaTokens: served.media_tokens,
        price: { ...served.price, backend: 'up' },
        cached: true,
      },
    ]);
  });

  it('counts an event once, however often and by however many it is delivered', async () => {
    const userId = newId();
    const events = Array.from({ length: 200 }, () => event({ user_id: userId }));
    const batches = [
      events,
      events.toReversed(),
      events.slice(50),
      [...events, ...events],
      events.slice(0, 100),
    ];
    const added = await Promise.all(batches.map(write));
    expect(added.reduce((sum, count) => sum + count, 0)).toBe(200);
    expect(await write(events)).toBe(0);
    expect(await write([])).toBe(0);
    expect((await database.usage.list({ userId, limit: 1, offset: 0 })).total).toBe(200);
  });

  it('goes to the partition of its month, which is made when it is first needed', async () => {
    const last = event({ created_at: '2027-01-31T23:59:59.999Z' });
    const first = event({ created_at: '2027-02-01T00:00:00.000Z' });
    await write([last, first]);
    expect(await partitionOf(last.id)).toEqual(['usage_records_2027_01']);
    expect(await partitionOf(first.id)).toEqual(['usage_records_2027_02']);
  });

  it('makes a partition once when many ask for it at the same time', async () => {
    const others = await Promise.all(
      Array.from({ length: 10 }, () => write([event({ created_at: '2028-05-05T00:00:00Z' })])),
    );
    expect(others).toEqual(Array.from({ length: 10 }, () => 1));
    const rows = await database.raw
      .query(`SELECT tableoid::regclass::text AS partition, count(*)::int
      FROM usage_records WHERE created_at >= '2028-05-01' AND created_at < '2028-06-01' GROUP BY 1`);
    expect(rows).toEqual([{ partition: 'usage_records_2028_05', count: 10 }]);
  });

  it('is recorded where the partition of its month was dropped while it waited', async () => {
    const old = () => write([event({ created_at: '2020-03-05T00:00:00Z' })]);
    // So that the session knows the partition.
    for (let count = 0; count < 6; count += 1) await old();
    const dropping = new Client({ connectionString: database.raw.url });
    await dropping.connect();
    await dropping.query('BEGIN');
    await dropping.query('SELECT pg_advisory_xact_lock(72707370)');
    await dropping.query(`SELECT usage_drop_partitions('usage_by_account_hour', '2020-04-01')`);
    const waiting = old();
    while ((await database.raw.query(WAITING)).length === 0);
    await dropping.query('COMMIT');
    await dropping.end();
    expect(await waiting).toBe(1);
  });

  it('is recorded by a role that may not make tables', async () => {
    const role = `recorder_${newId().replaceAll('-', '')}`;
    await database.raw.query(`
      CREATE ROLE ${role} LOGIN PASSWORD 'recorder';
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
    const url = new URL(database.raw.url);
    [url.username, url.password] = [role, 'recorder'];
    const own = createDatabase({ databaseUrl: url.href, log: silentLog });
    const first = event({ created_at: '2028-07-01T00:00:00.000Z' });
    try {
      await own.usage.record([first], { pointsPerUsd: 100 });
      expect(await partitionOf(first.id)).toEqual(['usage_records_2028_07']);
      expect(await own.spendSums.forgetHours(new Date())).toBeGreaterThan(0);
    } finally {
      await own.close();
      await database.raw.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('stays in the default partition where rows of the month already lie there', async () => {
    const insert = `INSERT INTO usage_records
      (id, api_key_id, model, backend, prompt_tokens, completion_tokens, total_tokens, user_id, created_at)
      VALUES ($1, 'service-', 'm', 'gateway', 0, 0, 0, $1, '2029-06-15T12:00:00Z')`;
    const early = newId();
    await database.raw.query(insert, [early]);
    const later = event({ created_at: '2029-06-20T00:00:00Z' });
    expect(await write([later])).toBe(1);
    expect(await partitionOf(early)).toEqual(['usage_records_default']);
    expect(await partitionOf(later.id)).toEqual(['usage_records_default']);
  });

  it('is not held up by an event with an absurd count or a character that Postgres does not keep', async () => {
    const userId = newId();
    const odd = event({
      user_id: userId,
      model: 'a\u0000b',
      total_tokens: Number.MAX_SAFE_INTEGER,
      cost: Number.MAX_VALUE,
    });
    expect(await write([odd, event({ user_id: userId })])).toBe(2);
    const { records } = await database.usage.list({ userId, limit: 10, offset: 0 });
    expect(records.find((record) => record.id === odd.id)).toMatchObject({
      model: 'ab',
      totalTokens: 2_147_483_647,
      cost: 1_000_000_000,
    });
  });

  it('is listed newest first, ties by id, a page at a time', async () => {
    const userId = newId();
    const ids = [newId(), newId(), newId()].toSorted();
    const [a = '', b = '', c = ''] = ids;
    await write([
      event({ id: c, user_id: userId, created_at: '2026-03-01T00:00:00Z' }),
      event({ id: b, user_id: userId, created_at: '2026-04-01T00:00:00Z' }),
      event({ id: a, user_id: userId, created_at: '2026-04-01T00:00:00Z' }),
      event({ created_at: '2026-04-02T00:00:00Z' }),
    ]);
    const page = async (limit: number, offset: number) => {
      const { records, total } = await database.usage.list({ userId, limit, offset });
      return { ids: records.map((record) => record.id), total };
    };
    expect(await page(10, 0)).toEqual({ ids: [a, b, c], total: 3 });
    expect(await page(1, 1)).toEqual({ ids: [b], total: 3 });
    expect(await page(10, 3)).toEqual({ ids: [], total: 3 });
  });

  it('has as many rows as its total says, also while rows are being written', async () => {
    const userId = newId();
    let isWritten = false;
    async function writeAll(): Promise<void> {
      for (let count = 0; count < 60; count += 1) await write([event({ user_id: userId })]);
      isWritten = true;
    }
    const writing = writeAll();
    while (!isWritten) {
      const { records, total } = await database.usage.list({ userId, limit: 100, offset: 0 });
      expect(records.length).toBe(total);
    }
    await writing;
  });

  it('is narrowed by a project to the rows of keys with that label', async () => {
    const userId = newId();
    const wanted = event({ user_id: userId, project: 'alpha' });
    await write([
      wanted,
      event({ user_id: userId, project: 'beta' }),
      event({ user_id: userId, project: null, key_id: null, api_key_id: `jwt-${userId}` }),
      event({ user_id: userId, project: 'alpha', key_id: null, api_key_id: `jwt-${userId}` }),
      event({ project: 'alpha' }),
    ]);
    const { records, total } = await database.usage.list({
      userId,
      project: 'alpha',
      limit: 10,
      offset: 0,
    });
    expect({ ids: records.map((record) => record.id), total }).toEqual({
      ids: [wanted.id],
      total: 1,
    });
    expect((await database.usage.list({ userId, limit: 10, offset: 0 })).total).toBe(4);
  });

  it('says when a key was last used, as exactly as a minute', async () => {
    const userId = newId();
    await database.users.create({
      id: userId,
      email: `${userId}@example.com`,
      name: '',
      passwordHash: 'hash',
    });
    const keyId = newId();
    await database.keys.create({
      id: keyId,
      userId,
      groupId: null,
      name: 'k',
      keyHash: sha256Hex(keyId),
      keyPrefix: 'service-',
      keyHint: '',
      project: 'default',
    });
    const use = (...times: string[]) =>
      write(times.map((time) => event({ key_id: keyId, created_at: `2026-03-04T${time}Z` })));
    const lastUsed = async () => (await database.keys.list(userId, 1, new Date()))[0]?.lastUsedAt;
    await use('05:00:10', '05:00:00');
    expect(await lastUsed()).toEqual(new Date('2026-03-04T05:00:10Z'));
    await use('05:01:00');
    expect(await lastUsed()).toEqual(new Date('2026-03-04T05:00:10Z'));
    await use('05:02:00');
    expect(await lastUsed()).toEqual(new Date('2026-03-04T05:02:00Z'));
    await use('04:00:00');
    expect(await lastUsed()).toEqual(new Date('2026-03-04T05:02:00Z'));
  });
});
