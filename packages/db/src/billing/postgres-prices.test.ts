import { openTestDatabase, type OpenedDatabase } from '../../tests/test-database.ts';

describe('price overrides in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  it('are listed by pattern, replaced by a second setting, and deleted', async () => {
    expect(await database.prices.list()).toEqual([]);
    const demo = { pattern: 'demo', inputPerMillion: 0.075, outputPerMillion: 0 };
    const chat = { pattern: 'chat%_', inputPerMillion: 1, outputPerMillion: 2 };
    await database.prices.set(demo);
    await database.prices.set(chat);
    expect(await database.prices.list()).toEqual([chat, demo]);
    await database.prices.set({ ...demo, inputPerMillion: 3 });
    expect(await database.prices.list()).toEqual([chat, { ...demo, inputPerMillion: 3 }]);
    expect(await database.prices.remove('chat%')).toBe(false);
    expect(await database.prices.remove('chat%_')).toBe(true);
    expect(await database.prices.remove('chat%_')).toBe(false);
    expect(await database.prices.list()).toHaveLength(1);
  });

  it('come out whole when the same pattern is set at once', async () => {
    const settings = Array.from({ length: 8 }, (_, index) =>
      database.prices.set({ pattern: 'race', inputPerMillion: index, outputPerMillion: index }),
    );
    await Promise.all(settings);
    const race = (await database.prices.list()).find(({ pattern }) => pattern === 'race');
    expect(race?.inputPerMillion).toBe(race?.outputPerMillion);
  });
});
