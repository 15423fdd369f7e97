import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from './test-database.ts';

describe('the rules that the database itself keeps', () => {
  let database: OpenedDatabase;
  const userId = newId();
  const accountId = newId();

  beforeAll(async () => {
    database = await openTestDatabase();
    await database.users.create({
      id: userId,
      email: 'owner@example.com',
      name: '',
      passwordHash: 'hash',
    });
    await database.raw.query(
      `INSERT INTO ledger_accounts (id, owner_type, owner_id, balance) VALUES ($1, 'user', $2, 10)`,
      [accountId, userId],
    );
  });

  afterAll(() => database.close());

  const addEntry = (key: string | null, scope: string | null) =>
    database.raw.query(
      `INSERT INTO ledger_entries (account_id, delta, balance_after, kind, idempotency_key, idempotency_scope)
       VALUES ($1, 1, 11, 'topup', $2, $3)`,
      [accountId, key, scope],
    );

  it('start with the three tiers of the specification', async () => {
    const tiers = await database.raw.query(
      'SELECT name, monthly_usd_quota, monthly_token_quota::int, rpm FROM billing_tiers ORDER BY rpm',
    );
    expect(tiers).toEqual([
      { name: 'free', monthly_usd_quota: 1, monthly_token_quota: 100_000, rpm: 10 },
      { name: 'pro', monthly_usd_quota: 20, monthly_token_quota: 5_000_000, rpm: 120 },
      { name: 'enterprise', monthly_usd_quota: null, monthly_token_quota: null, rpm: 1000 },
    ]);
  });

  it('never let a balance fall below zero', async () => {
    await expect(
      database.raw.query('UPDATE ledger_accounts SET balance = balance - 11'),
    ).rejects.toThrow('ledger_accounts_balance_check');
  });

  it('never change or remove an entry of the ledger', async () => {
    await addEntry(null, null);
    await expect(database.raw.query('UPDATE ledger_entries SET delta = 2')).rejects.toThrow(
      'append-only',
    );
    await expect(database.raw.query('DELETE FROM ledger_entries')).rejects.toThrow('append-only');
  });

  it('take an idempotency key once within its scope', async () => {
    await addEntry('k', 'topup:a');
    await addEntry('k', 'topup:b');
    await addEntry(null, null);
    await expect(addEntry('k', 'topup:a')).rejects.toThrow('idempotency');
    await expect(addEntry('k', null)).rejects.toThrow('ledger_entries_idempotency_check');
  });

  it('delete with a group its members and invitations, and keep its usage and its ledger', async () => {
    const groupId = newId();
    await database.raw.query(`INSERT INTO groups (id, owner_id, name) VALUES ($1, $2, 'g')`, [
      groupId,
      userId,
    ]);
    await database.raw.query('INSERT INTO group_members (group_id, user_id) VALUES ($1, $2)', [
      groupId,
      userId,
    ]);
    await database.raw.query(
      `INSERT INTO group_invitations (group_id, token_hash, expires_at) VALUES ($1, repeat('0', 64), now())`,
      [groupId],
    );
    await database.raw.query(
      `INSERT INTO group_model_rules (group_id, model, rule) VALUES ($1, 'm', 'deny')`,
      [groupId],
    );
    await database.raw.query(
      `INSERT INTO ledger_accounts (owner_type, owner_id) VALUES ('group', $1)`,
      [groupId],
    );
    await database.raw.query(
      `INSERT INTO usage_records (api_key_id, model, backend, prompt_tokens, completion_tokens, total_tokens, user_id, group_id)
       VALUES ('service-', 'm', 'gateway', 1, 1, 2, $1, $2)`,
      [userId, groupId],
    );

    await database.raw.query('DELETE FROM groups WHERE id = $1', [groupId]);

    const [left] = await database.raw.query(
      `SELECT (SELECT count(*)::int FROM group_members) AS members,
         (SELECT count(*)::int FROM group_invitations) AS invitations,
         (SELECT count(*)::int FROM group_model_rules) AS rules,
         (SELECT count(*)::int FROM ledger_accounts WHERE owner_id = $1) AS accounts,
         (SELECT count(*)::int FROM usage_records WHERE group_id = $1) AS usage`,
      [groupId],
    );
    expect(left).toEqual({ members: 0, invitations: 0, rules: 0, accounts: 1, usage: 1 });
  });
});
