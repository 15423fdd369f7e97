import { createLog, newId, silentLog } from '@model-gateway/kernel';
import { createCuttableProxy, type CuttableProxy } from './cuttable-proxy.ts';
import { openTestDatabase, type OpenedDatabase } from './test-database.ts';
import { createDatabase, type Database } from '../src/database.ts';

const newUser = () => ({
  id: newId(),
  email: `${newId()}@example.com`,
  name: 'Ada',
  passwordHash: 'hash',
});

describe('the database', () => {
  let opened: OpenedDatabase;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });

  afterAll(() => opened.close());

  it('opens no connection before the first call', async () => {
    const database = createDatabase({ databaseUrl: opened.raw.url, log: silentLog });
    expect(database.poolStats()).toEqual({ total: 0, idle: 0, waiting: 0 });
    await database.ping();
    expect(database.poolStats()).toEqual({ total: 1, idle: 1, waiting: 0 });
    await database.close();
    await database.close();
  });

  it('keeps everything or nothing of a transaction', async () => {
    const user = newUser();
    const attempt = opened.transaction(async (stores) => {
      await stores.users.create(user);
      expect(await stores.users.findById(user.id)).toBeDefined();
      throw new Error('changed my mind');
    });
    await expect(attempt).rejects.toThrow('changed my mind');
    expect(await opened.users.findById(user.id)).toBeUndefined();

    await opened.transaction(async (stores) => {
      await stores.users.create(user);
    });
    expect(await opened.users.findById(user.id)).toMatchObject({ id: user.id });
  });

  it('refuses calls after it was closed', async () => {
    const database = createDatabase({ databaseUrl: opened.raw.url, log: silentLog });
    await database.close();
    await expect(database.users.findById(newId())).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });

  describe('behind a wire that can be cut', () => {
    let proxy: CuttableProxy;
    let database: Database;

    beforeEach(async () => {
      proxy = await createCuttableProxy(opened.raw.url);
      database = createDatabase({ databaseUrl: proxy.url, log: silentLog });
      await database.ping();
    });

    afterEach(async () => {
      await database.close();
      await proxy.close();
    });

    it('rejects every call with store_unavailable while Postgres is unavailable, and works again afterwards', async () => {
      await proxy.cut();
      const calls: readonly (() => Promise<unknown>)[] = [
        () => database.ping(),
        () => database.users.findById(newId()),
        () => database.users.create(newUser()),
        () => database.keys.findHolder('0'.repeat(64)),
        () => database.usage.list({ userId: newId(), limit: 1, offset: 0 }),
        () => database.backendConfigs.list(),
        () => database.transaction((stores) => stores.users.findById(newId())),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({ code: 'store_unavailable' });
      }

      await proxy.restore();
      await database.ping();
      const user = await database.users.create(newUser());
      expect(await database.users.findById(user.id)).toEqual(user);
    });

    it('works after a transaction has lost its connection', async () => {
      const attempt = database.transaction(async (stores) => {
        await stores.users.findById(newId());
        proxy.silence();
        await stores.users.findById(newId());
      });
      await expect(attempt).rejects.toMatchObject({ code: 'store_unavailable' });
      await proxy.cut();
      await proxy.restore();
      await database.ping();
    });

    it('closes its connections before it is closed, and logs none of them as lost', async () => {
      const lines: string[] = [];
      const destination = { write: (line: string) => void lines.push(line) };
      const log = createLog({ level: 'warn', app: 'test', destination });
      const logged = createDatabase({ databaseUrl: proxy.url, log });
      await logged.ping();
      proxy.hold();
      // Postgres ends the connection before it hears that it is closed.
      await Promise.all([
        logged.close(),
        opened.raw.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'model-gateway' AND datname = current_database()`),
      ]);
      expect(lines).toEqual([]);
    });

    it('does not wait longer than a second for the answer to a ping', async () => {
      proxy.silence();
      // The connection that was open is dead; the one after it never comes about.
      await expect(database.ping()).rejects.toMatchObject({ code: 'store_unavailable' });
      await expect(database.ping()).rejects.toThrow('did not answer within 1000 ms');
    });
  });
});
