import { checkAuditChain, type NewAuditEntry } from '@model-gateway/accounts';
import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const WRITERS = 20;

const entry = (more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  actor: { kind: 'admin-token', userId: null },
  action: 'users.update',
  target: `user:${newId()}`,
  before: { tier: 'free' },
  after: { tier: 'pro', api_key: 'sk-secret', note: 'NUL \u0000 and \uD800' },
  clientIp: '192.0.2.1',
  requestId: newId(),
  ...more,
});

describe('the audit log in Postgres', () => {
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  const check = (anchor?: { seq: number; hash: string }, countMax = 10_000) =>
    checkAuditChain(database.audit, { anchor, countMax });
  /** What only an owner of the database can do. */
  const tamper = async (sql: string) => {
    await database.raw.query('ALTER TABLE audit_entries DISABLE TRIGGER USER');
    await database.raw.query(sql);
    await database.raw.query('ALTER TABLE audit_entries ENABLE TRIGGER USER');
  };

  it('is an empty chain at first', async () => {
    expect(await check()).toEqual({
      checked: 0,
      last: undefined,
      hasMore: false,
      broken: undefined,
    });
  });

  it('is one chain without gaps, however many write at once, in and out of transactions', async () => {
    await Promise.all(
      Array.from({ length: WRITERS }, (_, index) =>
        index % 2 === 0
          ? database.audit.append(entry())
          : database.transaction((stores) => stores.audit.append(entry())),
      ),
    );
    const entries = await database.audit.read({ afterSeq: 0, countMax: 100 });
    expect(entries.map(({ seq }) => seq)).toEqual(
      Array.from({ length: WRITERS }, (_, index) => index + 1),
    );
    expect(await check()).toMatchObject({ checked: WRITERS, hasMore: false, broken: undefined });
    expect(entries[0]?.after).toEqual({
      tier: 'pro',
      api_key: '[hidden]',
      note: 'NUL  and \uFFFD',
    });
  });

  it('has no entry of a transaction that failed', async () => {
    const failed = database.transaction(async (stores) => {
      await stores.audit.append(entry());
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await check()).toMatchObject({ checked: WRITERS, broken: undefined });
  });

  it('is checked in steps', async () => {
    const first = await check(undefined, 7);
    expect(first).toMatchObject({ checked: 7, last: { seq: 7 }, hasMore: true });
    expect(await check(first.last)).toMatchObject({ checked: WRITERS - 7, hasMore: false });
  });

  it('is found by actor, action, target and time, newest first', async () => {
    const userId = newId();
    const target = 'group:1';
    await database.users.create({ id: userId, email: 'a@example.com', name: '', passwordHash: '' });
    await database.audit.append(
      entry({ actor: { kind: 'user', userId }, action: 'group.update', target }),
    );
    await database.audit.append(
      entry({ actor: { kind: 'user', userId }, action: 'group.delete', target }),
    );
    const list = async (query: object) =>
      (await database.audit.list({ countMax: 10, ...query })).map(({ action }) => action);
    expect(await list({ actorId: userId })).toEqual(['group.delete', 'group.update']);
    expect(await list({ target, action: 'group.update' })).toEqual(['group.update']);
    expect(await list({ beforeSeq: WRITERS + 2, countMax: 1 })).toEqual(['group.update']);
    expect(await list({ to: new Date(0) })).toEqual([]);
    expect(await list({ from: new Date(Date.now() + 60_000) })).toEqual([]);
    const [shown] = await database.audit.list({ actorId: userId, countMax: 1 });
    expect(shown?.actorEmail).toBe('a@example.com');
  });

  it.each([
    "UPDATE audit_entries SET action = 'x'",
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
  ])('refuses %s', async (sql) => {
    await expect(database.raw.query(sql)).rejects.toThrow('append-only');
  });

  it.each(['infinity', '0044-03-15 BC', '20000-01-01'])(
    'can be read when a time was changed to %s, and names that entry',
    async (at) => {
      const [last] = await database.audit.list({ countMax: 1 });
      if (last === undefined) throw new Error('there is no entry');
      const { seq } = last;
      await tamper(`UPDATE audit_entries SET at = '${at}' WHERE seq = ${seq}`);
      expect(await check()).toMatchObject({
        broken: { seq, reason: 'its content does not fit its hash' },
      });
      await tamper(`UPDATE audit_entries SET at = '${last.at.toISOString()}' WHERE seq = ${seq}`);
      expect(await check()).toMatchObject({ broken: undefined });
    },
  );

  it.each([0, -5])(
    'names an entry with the number %d, which the service never gives',
    async (seq) => {
      await tamper(
        `INSERT INTO audit_entries
         SELECT ${seq}, at, actor, actor_id, 'forged', target, before, after, client_ip, request_id, previous_hash, hash
         FROM audit_entries WHERE seq = 1`,
      );
      expect(await check()).toMatchObject({ checked: 0, broken: { seq } });
      expect(await check({ seq: 0, hash: '0'.repeat(64) })).toMatchObject({ broken: { seq } });
      await tamper(`DELETE FROM audit_entries WHERE seq = ${seq}`);
      expect(await check()).toMatchObject({ broken: undefined });
    },
  );

  it('names the first entry that was changed, replaced or is missing', async () => {
    await tamper(`UPDATE audit_entries SET after = '{"tier":"free"}' WHERE seq = 12`);
    expect(await check()).toMatchObject({
      last: { seq: 11 },
      broken: { seq: 12, reason: 'its content does not fit its hash' },
    });
    await tamper('DELETE FROM audit_entries WHERE seq = 9');
    expect(await check()).toMatchObject({
      broken: { seq: 10, reason: 'entries before it are missing' },
    });
    await tamper(`UPDATE audit_entries SET previous_hash = repeat('1', 64) WHERE seq = 5`);
    expect(await check()).toMatchObject({
      broken: { seq: 5, reason: 'it does not carry the hash of the entry before' },
    });
  });

  it('goes on after an archive, from its last entry', async () => {
    const [last] = await database.audit.read({ afterSeq: 12, countMax: 1 });
    if (last === undefined) throw new Error('there is no entry');
    await tamper(`DELETE FROM audit_entries WHERE seq <= ${last.seq}`);
    expect(await check()).toMatchObject({
      broken: { seq: 14, reason: expect.stringContaining('give the last entry of the archive') },
    });
    expect(await check({ seq: last.seq, hash: last.hash })).toMatchObject({
      checked: WRITERS + 2 - 13,
      broken: undefined,
    });
    expect(await check({ seq: last.seq, hash: '0'.repeat(64) })).toMatchObject({
      broken: { seq: 14 },
    });
    await database.audit.append(entry());
    expect(await check({ seq: last.seq, hash: last.hash })).toMatchObject({ broken: undefined });
  });

  it('shows from an entry that was kept that the newest ones are missing', async () => {
    const [kept] = await database.audit.list({ countMax: 1 });
    if (kept === undefined) throw new Error('there is no entry');
    const { seq, hash } = kept;
    expect(await check({ seq, hash })).toEqual({
      checked: 0,
      last: { seq, hash },
      hasMore: false,
      broken: undefined,
    });
    await tamper(`DELETE FROM audit_entries WHERE seq > ${seq - 2}`);
    const missing = { broken: { seq, reason: expect.stringContaining('the newest were removed') } };
    expect(await check({ seq, hash })).toMatchObject(missing);
    await database.audit.append(entry());
    expect(await check({ seq, hash })).toMatchObject(missing);
    // The numbers are used again, with other entries.
    await database.audit.append(entry());
    expect(await check({ seq, hash })).toMatchObject({
      checked: 0,
      broken: { seq, reason: 'it does not have the hash that was given' },
    });
    await database.audit.append(entry());
    expect(await check({ seq, hash })).toMatchObject({ broken: { seq } });
  });
});
