import { newId, sha256Hex } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

let database: OpenedDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.raw.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), 'America/New_York'); END $$`,
  );
});
afterAll(() => database.close());

test('the event of a key that expires has the time in UTC, whatever the clock of the database says', async () => {
  const [userId, keyId] = [newId(), newId()];
  await database.users.create({ id: userId, email: 'a@example.com', name: '', passwordHash: '' });
  await database.raw.query(
    `INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, key_hint, created_at, expires_at)
     VALUES ($1, $2, 'old', $3, 'service-', 'hint', '2026-02-01T00:00:00Z', '2026-03-11T00:00:00.5Z')`,
    [keyId, userId, sha256Hex(keyId)],
  );
  await database.eventSources.addExpiringKeys(new Date('2026-03-10T12:00:00Z'), [7, 1]);
  expect(await database.raw.query('SELECT data FROM outbox_events')).toMatchObject([
    { data: { key_id: keyId, expires_at: '2026-03-11T00:00:00.500Z' } },
  ]);
});
