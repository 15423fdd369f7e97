import { newId } from '@model-gateway/kernel';
import { waitUntil, type RpcAnswer, type TestAccount } from '@model-gateway/testkit';
import { startMemoryService, type RunningMemoryService } from '@model-gateway/testkit/upstreams';
import { openSocket, startRpc, type RpcServer } from '../rpc-server.ts';

const NOT_FOUND = { code: -32_000, message: 'user not found' };

let memory: RunningMemoryService;
let rpc: RpcServer;
let admin: TestAccount;
beforeAll(async () => {
  memory = await startMemoryService();
  rpc = await startRpc({
    SERVICE_MEMORY_URL: memory.url,
    SERVICE_MEMORY_TIMEOUT_MS: '10000',
  });
  admin = await rpc.createAccount('admin@example.com');
});
afterAll(async () => {
  await rpc.test.close();
  await memory.close();
});

const asAdmin = (method: string, params: object): Promise<RpcAnswer> =>
  rpc.call(method, params, admin.token);

const update = (user_id: string, changes: object): Promise<RpcAnswer> =>
  asAdmin('users.update', { user_id, ...changes });

const login = (email: string): Promise<RpcAnswer> =>
  rpc.call('auth.login', { email, password: 'long enough' });

describe('users.erase', () => {
  /** The rows of a user that could tell who they are or what they said. */
  const personalRows = async (id: string) => {
    const [row] = await rpc.test.query(
      `SELECT
        (SELECT count(*)::int FROM conversations WHERE user_id = $1) AS conversations,
        (SELECT count(*)::int FROM memory_events WHERE user_id = $1) AS memory,
        (SELECT count(*)::int FROM stored_responses WHERE user_id = $1) AS responses,
        (SELECT count(*)::int FROM request_bodies WHERE user_id = $1) AS bodies,
        (SELECT count(*)::int FROM request_failures WHERE user_id = $1 AND (error <> '' OR request_id IS NOT NULL)) AS failures,
        (SELECT count(*)::int FROM refresh_tokens WHERE user_id = $1) AS tokens,
        (SELECT count(*)::int FROM sign_in_addresses WHERE user_id = $1) AS addresses,
        (SELECT count(*)::int FROM password_resets WHERE user_id = $1) AS resets,
        (SELECT count(*)::int FROM group_members WHERE user_id = $1) AS memberships,
        (SELECT count(*)::int FROM api_keys WHERE user_id = $1 AND (revoked_at IS NULL OR name <> 'erased')) AS keys,
        (SELECT count(*)::int FROM video_jobs WHERE user_id = $1 AND request::text LIKE '%cat%') AS videos,
        (SELECT count(*)::int FROM outbox_events WHERE data::text LIKE '%Ada%') AS events,
        (SELECT count(*)::int FROM event_deliveries WHERE user_id = $1) AS mails`,
      [id],
    );
    return row;
  };
  const NOTHING = {
    conversations: 0,
    memory: 0,
    responses: 0,
    bodies: 0,
    failures: 0,
    tokens: 0,
    addresses: 0,
    resets: 0,
    memberships: 0,
    keys: 0,
    videos: 0,
    events: 0,
    mails: 0,
  };

  test('removes the person and keeps the bill', async () => {
    const email = 'ada@example.com';
    const { id, token } = await rpc.createAccount(email);
    const colleague = await rpc.createAccount('colleague@example.com');
    await update(id, { name: 'Ada' });
    const { access_token } = (await login(email)).result as { readonly access_token: string };
    const call = async (method: string, params: object) =>
      (await rpc.call(method, params, token)).result as { readonly id: string };
    await call('conversations.create', { title: 'private' });
    const key = await call('keys.create', { name: 'the laptop of Ada' });
    const shared = await call('group.create', { name: 'shared' });
    const alone = await call('group.create', { name: 'alone' });
    const member = { email: colleague.email, role: 'admin' };
    await call('group.members.add', { group_id: shared.id, ...member });
    await rpc.call('group.invite.create', { group_id: shared.id, email }, colleague.token);
    memory.remember(id, 'everything about the user: lives in London');
    memory.remember(colleague.id, 'everything about the user: lives in Paris');
    const { database } = rpc.test.context;
    const createdAt = new Date();
    const logged = { id: newId(), createdAt, userId: id };
    const late = { ...logged, id: newId() };
    await database.requestLogStore.addBodies([{ ...logged, request: 'I am Ada', answer: null }]);
    const failure = {
      ...logged,
      keyId: null,
      groupId: null,
      apiKeyId: `jwt-${id}`,
      project: null,
      backend: 'rpc',
      model: 'of Ada',
      countedModel: '',
      upstream: null,
      refId: null,
      latencyMs: 1,
      status: 400,
      errorCode: 'invalid_request',
      error: 'not for Ada',
      requestId: 'ada',
      attempts: null,
      repeats: 1,
    };
    await database.usage.record([], { pointsPerUsd: 100, failures: [failure] });
    await database.videoJobs.create({
      id: newId(),
      payer: {
        userId: id,
        apiKeyId: 'key',
        keyId: null,
        groupId: null,
        project: null,
        multiplier: 1,
      },
      model: 'v-1',
      resolvedModel: 'v-1',
      order: { prompt: 'a cat', extra: { frames: 48, note: 'my cat' } },
      images: [],
      idempotencyKey: null,
      orderHash: null,
      allowedModels: null,
      unfinishedMax: 10,
    });
    await rpc.test.query(
      `INSERT INTO usage_records (api_key_id, model, backend, prompt_tokens, completion_tokens, total_tokens, cost, user_id)
       VALUES ('service-', 'm', 'gateway', 1, 1, 2, 0.5, $1)`,
      [id],
    );
    await rpc.test.query(
      `WITH event AS (
         INSERT INTO outbox_events (id, key, type, user_id, data)
         VALUES (gen_random_uuid(), 'of Ada', 'budget.threshold', $1::uuid,
           jsonb_build_object('key_id', $2::text, 'key_name', 'the laptop of Ada', 'user_id', $1::uuid, 'percent', 80))
         RETURNING id
       )
       INSERT INTO event_deliveries (event_id, user_id, next_attempt_at, error)
       SELECT id, $1::uuid, now(), 'no mailbox of Ada' FROM event`,
      [id, key.id],
    );
    await asAdmin('users.reset_link', { user_id: id });
    const socket = await openSocket(rpc.url, access_token);
    expect(await personalRows(id)).not.toEqual(NOTHING);

    const { result } = await asAdmin('users.erase', { user_id: id });

    expect(result).toEqual({ ok: true, memory: 'removed' });
    expect(await socket.closed).toBe(4401);
    expect(await personalRows(id)).toEqual(NOTHING);
    expect(memory.nodes.map(({ user_id }) => user_id)).toEqual([colleague.id]);
    expect((await asAdmin('users.get', { user_id: id })).result).toMatchObject({
      email: `erased-${id}@erased.invalid`,
      name: '',
      active: false,
      erased_at: expect.any(String),
    });
    const [kept] = await rpc.test.query(
      `SELECT
        (SELECT cost FROM usage_records WHERE user_id = $1) AS cost,
        (SELECT status FROM video_jobs WHERE user_id = $1) AS video,
        (SELECT request #>> '{extra,frames}' FROM video_jobs WHERE user_id = $1) AS frames,
        (SELECT data FROM outbox_events WHERE key = 'of Ada') AS event,
        (SELECT owner_id FROM groups WHERE id = $2) AS shared,
        (SELECT owner_id FROM groups WHERE id = $3) AS alone,
        (SELECT count(*)::int FROM group_invitations WHERE email = $4) AS invitations`,
      [id, shared.id, alone.id, email],
    );
    expect(kept).toEqual({
      cost: 0.5,
      video: 'cancelled',
      frames: '48',
      event: { key_id: key.id, key_name: 'erased', user_id: id, percent: 80 },
      shared: colleague.id,
      alone: admin.id,
      invitations: 0,
    });
    // What was on its way is stored without what the person wrote.
    await database.requestLogStore.addBodies([{ ...late, request: 'I am Ada', answer: null }]);
    const failures = [{ ...failure, ...late }];
    await database.usage.record([], { pointsPerUsd: 100, failures });
    expect(await personalRows(id)).toEqual(NOTHING);
    expect((await login(email)).error).toMatchObject({ code: -32_005 });
    // The email is free again.
    expect((await rpc.createAccount(email)).id).not.toBe(id);
    expect((await update(id, { active: true })).error).toMatchObject({
      code: -32_000,
      message: 'the account was erased and cannot be changed',
    });
  });

  test('says when the memory service did not answer, and can be repeated', async () => {
    const { id } = await rpc.createAccount('again@example.com');
    memory.remember(id, 'everything about the user: lives in Oslo');
    memory.faults.next({ kind: 'error' }, 1, 'Memory.Recall');
    expect((await asAdmin('users.erase', { user_id: id })).result).toMatchObject({
      memory: 'failed',
    });
    expect((await asAdmin('users.erase', { user_id: id })).result).toMatchObject({
      memory: 'removed',
    });
    expect(memory.nodes.filter(({ user_id }) => user_id === id)).toEqual([]);
    expect((await asAdmin('users.erase', { user_id: newId() })).error).toMatchObject(NOT_FOUND);
  });

  test('has erased the account before what it wrote, which may take longer than a transaction', async () => {
    const { id, token } = await rpc.createAccount('busy@example.com');
    const created = await rpc.call('conversations.create', { title: 'long' }, token);
    const conversation = created.result as { readonly id: string };
    const isErased = async () => {
      const { result } = await asAdmin('users.get', { user_id: id });
      return (result as { readonly erased_at: string | null }).erased_at !== null;
    };
    // The transaction holds the conversation, so that its removal takes as long as the transaction.
    const erasing = await rpc.test.context.database.transaction(async ({ conversations }) => {
      await conversations.addTurn(conversation.id, [], undefined);
      const call = asAdmin('users.erase', { user_id: id });
      await waitUntil(isErased, { what: 'the account is erased' });
      return { call };
    });
    expect((await erasing.call).result).toMatchObject({ ok: true });
    expect(await personalRows(id)).toEqual(NOTHING);
  });

  test('no one can prevent it by registering the address of the erased account', async () => {
    const { id } = await rpc.createAccount('blocked@example.com');
    const email = `Erased-${id}@erased.invalid`;
    const registered = await rpc.call('auth.register', { email, password: 'a long password' });
    expect(registered.error?.message).toBe('email already registered');
    const { result } = await asAdmin('users.erase', { user_id: id });
    expect(result).toMatchObject({ ok: true });
  });

  test('gives the groups of an admin who erases themselves to another admin', async () => {
    const leaving = await rpc.createAccount('leaving@example.com');
    await update(leaving.id, { is_admin: true });
    const created = await rpc.call('group.create', { name: 'left' }, leaving.token);
    const { id } = created.result as { readonly id: string };
    const erased = await rpc.call('users.erase', { user_id: leaving.id }, leaving.token);
    expect(erased.result).toMatchObject({ ok: true });
    const { result } = await asAdmin('group.get', { group_id: id });
    expect(result).toMatchObject({ members: [{ email: admin.email, is_owner: true }] });
  });

  test('a reset link for an erased account says that there is no way back', async () => {
    const { id } = await rpc.createAccount('no-way-back@example.com');
    await asAdmin('users.erase', { user_id: id });
    const { error } = await asAdmin('users.reset_link', { user_id: id });
    expect(error?.message).toBe('the account was erased and cannot be changed');
  });
});
