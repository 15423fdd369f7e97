import { setTimeout as delay } from 'node:timers/promises';
import type { StoredPrice } from '@model-gateway/billing';
import { silentLog } from '@model-gateway/kernel';
import { createDatabase } from '../../src/database.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const POLL_MS = 10;
// Not by pg_stat_activity, which a transaction reads once.
const WAITING = `SELECT 1 FROM pg_locks WHERE NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const listed = (pattern: string, rates: Partial<StoredPrice> = {}): StoredPrice => ({
  pattern,
  backend: null,
  source: 'override',
  inputPerMillion: 1,
  outputPerMillion: 1,
  cachedInputPerMillion: null,
  cacheWritePerMillion: null,
  audioInputPerMillion: null,
  audioOutputPerMillion: null,
  cachedAudioInputPerMillion: null,
  imageOutputPerMillion: null,
  perImage: null,
  perMinuteAudio: null,
  perRequest: null,
  ...rates,
});

describe('price overrides in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  it('are listed by pattern, replaced by a second setting, and deleted', async () => {
    expect(await database.prices.list()).toEqual([]);
    const demo = listed('demo', { inputPerMillion: 0.075, perImage: 0.5 });
    const chat = listed('chat%_', { outputPerMillion: 2 });
    await database.prices.set(demo);
    await database.prices.set(chat);
    expect(await database.prices.list()).toEqual([chat, demo]);
    await database.prices.set({ ...demo, inputPerMillion: 3 });
    expect(await database.prices.list()).toEqual([chat, { ...demo, inputPerMillion: 3 }]);
    expect(await database.prices.remove('chat%', null)).toBe(false);
    expect(await database.prices.remove('chat%_', null)).toBe(true);
    expect(await database.prices.remove('chat%_', null)).toBe(false);
    expect(await database.prices.list()).toHaveLength(1);
  });

  it('come out whole when the same pattern is set at once', async () => {
    const settings = Array.from({ length: 8 }, (_, index) =>
      database.prices.set(listed('race', { inputPerMillion: index, outputPerMillion: index })),
    );
    await Promise.all(settings);
    const race = (await database.prices.list()).find(({ pattern }) => pattern === 'race');
    expect(race?.inputPerMillion).toBe(race?.outputPerMillion);
  });

  it('of a backend and of a catalogue are kept apart from those for every backend', async () => {
    const pattern = 'apart';
    const own = listed(pattern, { backend: 'gpu', cachedInputPerMillion: 0.1 });
    const imported = listed(pattern, { source: 'catalogue', cacheWritePerMillion: 2 });
    const other = listed('other', { source: 'catalogue' });
    const kept = async () =>
      (await database.prices.list()).filter(
        (price) => price.pattern === pattern || price.source === 'catalogue',
      );
    await database.prices.set(listed(pattern));
    await database.prices.set(own);
    expect(await database.prices.importAll([imported, other], 'merge')).toBe(0);
    expect(await kept()).toEqual([imported, listed(pattern), other, own]);
    expect(await database.prices.remove(pattern, null)).toBe(true);
    expect(await kept()).toEqual([imported, other, own]);
    const cheaper = { ...imported, inputPerMillion: 0.5 };
    expect(await database.prices.importAll([cheaper], 'merge')).toBe(0);
    expect(await kept()).toEqual([cheaper, other, own]);
    expect(await database.prices.importAll([cheaper], 'replace')).toBe(1);
    expect(await kept()).toEqual([cheaper, own]);
    expect(await database.prices.importAll([other], 'replace')).toBe(1);
    expect(await kept()).toEqual([other, own]);
  });

  it('are those of one of two catalogues that replace at once, and of both that merge', async () => {
    const other = createDatabase({ databaseUrl: database.raw.url, log: silentLog });
    const catalogue = (name: string): StoredPrice[] =>
      Array.from({ length: 300 }, (_, index) =>
        listed(`${name}-${index}`, { source: 'catalogue' }),
      );
    const shared = catalogue('shared');
    const imported = async () =>
      (await database.prices.list())
        .filter(({ source }) => source === 'catalogue')
        .map(({ pattern }) => pattern.split('-')[0]);

    /** Both wait for the table, so that they begin at once. */
    async function importBoth(mode: 'merge' | 'replace'): Promise<void> {
      await database.raw.query('BEGIN');
      await database.raw.query('LOCK TABLE price_overrides IN SHARE MODE');
      const importing = Promise.all([
        database.prices.importAll([...shared, ...catalogue('first')], mode),
        // In another order, in which the rows would be locked.
        other.prices.importAll([...shared.toReversed(), ...catalogue('second')], mode),
      ]);
      while ((await database.raw.query(WAITING)).length < 2) await delay(POLL_MS);
      await database.raw.query('COMMIT');
      await importing;
    }

    for (let round = 0; round < 3; round += 1) {
      await database.prices.importAll([], 'replace');
      await importBoth('replace');
      const names = await imported();
      expect(names).toHaveLength(600);
      expect(new Set(names).size).toBe(2);
      await database.prices.importAll([], 'replace');
      await importBoth('merge');
      expect(await imported()).toHaveLength(900);
    }
    await database.prices.importAll([], 'replace');
    await other.close();
  });

  it('say which of them came from the configuration file', async () => {
    const marks = async () =>
      (await database.prices.list())
        .filter(({ pattern }) => pattern.startsWith('filed'))
        .map(({ pattern, backend, source }) => [pattern, backend, source]);
    await database.prices.set(listed('filed'));
    await database.prices.set(listed('filed', { backend: 'gpu' }));
    await database.prices.importAll([listed('filed', { source: 'catalogue' })], 'merge');
    const entry = { section: 'prices', hash: 'x', target: null } as const;
    await database.fileEntries.put({ ...entry, name: 'filed on backend gpu' });
    expect(await marks()).toEqual([
      ['filed', null, 'catalogue'],
      ['filed', null, 'override'],
      ['filed', 'gpu', 'file'],
    ]);
    await database.fileEntries.put({ ...entry, name: 'filed' });
    expect(await marks()).toEqual([
      ['filed', null, 'catalogue'],
      ['filed', null, 'file'],
      ['filed', 'gpu', 'file'],
    ]);
  });
});
