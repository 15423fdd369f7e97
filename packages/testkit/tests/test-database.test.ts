import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../src/test-database.ts';

async function tablesOf(database: TestDatabase): Promise<readonly string[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  await client.end();
  return rows.map((row) => row.name);
}

test('test files get migrated databases of their own, also at the same time', async () => {
  const databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const [first, second] = await Promise.all(databases.map(tablesOf));
  expect(first).toContain('users');
  expect(second).toEqual(first);
  expect(databases[0]?.url).not.toBe(databases[1]?.url);
  await Promise.all(databases.map((database) => database.drop()));
});
