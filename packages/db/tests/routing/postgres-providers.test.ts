import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

describe('custom providers in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  const provider = (id: string, name = id) => ({
    id,
    name,
    description: 'about it',
    websiteDomain: 'example.com',
  });

  it('are added once, listed by name, changed and removed', async () => {
    const { providers } = database;
    expect(await providers.add(provider('b', 'Zebra'))).toBe(true);
    expect(await providers.add(provider('a', 'Ape'))).toBe(true);
    expect(await providers.add(provider('a', 'Another'))).toBe(false);
    expect((await providers.list(10)).map(({ name }) => name)).toEqual(['Ape', 'Zebra']);
    expect(await providers.list(1)).toHaveLength(1);

    expect(await providers.update('a', { description: '' })).toBe(true);
    expect(await providers.update('a', {})).toBe(true);
    expect(await providers.update('none', { name: 'x' })).toBe(false);
    expect((await providers.list(1))[0]).toEqual({
      ...provider('a', 'Ape'),
      description: '',
      isOfficial: false,
      isOperator: false,
    });

    expect(await providers.remove('a')).toBe(true);
    expect(await providers.remove('a')).toBe(false);
  });

  it('are added by one of many who try at once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => database.providers.add(provider('same'))),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  });

  it('cannot bear a NUL character, which is the caller’s fault and not the database’s', async () => {
    await expect(database.providers.add(provider('nul', 'a\u0000b'))).rejects.toMatchObject({
      code: 'missing_fields',
      message: 'Invalid params: texts cannot contain NUL',
    });
  });
});
