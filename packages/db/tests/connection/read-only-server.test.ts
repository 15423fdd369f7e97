import { newId, silentLog } from '@model-gateway/kernel';
import { createDatabase, type Database } from '../../src/database.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';

let opened: OpenedDatabase;

beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

/** For the connections that are opened from now on. */
const setReadOnly = (value: 'on' | 'off') =>
  opened.raw.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${value}', current_database()); END $$`,
  );

const newUser = () => ({
  id: newId(),
  email: `${newId()}@example.com`,
  name: 'Ada',
  passwordHash: 'hash',
});
const event = usageEvent();

test.each<{ name: string; write: (database: Database) => Promise<unknown> }>([
  { name: 'a statement', write: ({ users }) => users.create(newUser()) },
  {
    name: 'a transaction',
    write: (database) => database.transaction(({ users }) => users.create(newUser())),
  },
  { name: 'usage', write: ({ usage }) => usage.record([event], { pointsPerUsd: 100 }) },
])(
  'after $name was refused by a server that only reads, the next attempt uses a new connection',
  async ({ write }) => {
    const database = createDatabase({ databaseUrl: opened.raw.url, log: silentLog, poolMax: 1 });
    try {
      await setReadOnly('on');
      await database.users.findById(newId());
      await setReadOnly('off');
      await expect(write(database)).rejects.toMatchObject({ code: 'store_unavailable' });
      await write(database);
    } finally {
      await database.close();
    }
  },
);
