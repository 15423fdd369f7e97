import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { allowLongQueries, LONG_QUERY } from '../../src/connection/long-queries.ts';

describe('a connection whose queries have a limit', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  beforeEach(async () => {
    client = new Client({ connectionString: database.url, query_timeout: 100 });
    await client.connect();
    allowLongQueries(client);
  });

  afterEach(() => client.end());

  afterAll(() => database.drop());

  it('lets a marked query take longer', async () => {
    const text = `\n  ${LONG_QUERY.sql} SELECT 1 AS one FROM pg_sleep($1)`;
    expect((await client.query({ text, values: [0.5] })).rows).toEqual([{ one: 1 }]);
  });

  it('ends every other query', async () => {
    const text = 'SELECT 1 FROM pg_sleep($1)';
    await expect(client.query({ text, values: [60] })).rejects.toThrow('Query read timeout');
  });
});
