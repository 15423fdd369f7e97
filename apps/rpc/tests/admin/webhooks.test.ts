import type { TestAccount } from '@model-gateway/testkit';
import { watchForSecrets } from '@model-gateway/testkit';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

watchForSecrets();

const INVALID = -32_602;
const FORBIDDEN = -32_007;

interface CreatedWebhook {
  readonly id: string;
  readonly secret: string;
}

let rpc: RpcServer;
let admin: TestAccount;
let owner: TestAccount;
let member: TestAccount;
let stranger: TestAccount;
let groupId: string;
beforeAll(async () => {
  rpc = await startRpc();
  admin = await rpc.createAccount('admin@example.com');
  owner = await rpc.createAccount('owner@example.com');
  member = await rpc.createAccount('member@example.com');
  stranger = await rpc.createAccount('stranger@example.com');
  const { result } = await rpc.call('group.create', { name: 'team' }, owner.token);
  groupId = (result as { id: string }).id;
  await rpc.call(
    'group.members.add',
    { group_id: groupId, email: 'member@example.com' },
    owner.token,
  );
});
afterEach(() => rpc.test.query('DELETE FROM webhooks'));
afterAll(() => rpc.test.close());

/** A public address, so that no test needs DNS. */
const RECEIVER = 'https://93.184.215.14/hook?token=secret';

const create = (params: object, token?: string) =>
  rpc.call('webhooks.create', { url: RECEIVER, events: ['key.expiring'], ...params }, token);

async function created(params: object, token: string): Promise<CreatedWebhook> {
  const { result, error } = await create(params, token);
  expect(error).toBeUndefined();
  return result as CreatedWebhook;
}

async function listed(token: string, params: object = {}): Promise<readonly string[]> {
  const { result } = await rpc.call('webhooks.list', params, token);
  return (result as { webhooks: readonly CreatedWebhook[] }).webhooks.map(({ id }) => id);
}

test('a webhook is listed without its secret, which is shown once and stored encrypted', async () => {
  const { id, secret } = await created({ format: 'slack' }, admin.token);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  const { result } = await rpc.call('webhooks.list', {}, admin.token);
  const shown = {
    id,
    url: RECEIVER,
    events: ['key.expiring'],
    format: 'slack',
    group_id: null,
    created_at: expect.any(String),
  };
  expect(result).toEqual({ webhooks: [shown], has_more: false, after: null });
  const [row] = await rpc.test.query('SELECT secret FROM webhooks');
  expect(row?.['secret']).toMatch(/^v1\./);
  const [entry] = await rpc.test.query(
    `SELECT * FROM audit_entries WHERE action = 'webhooks.create' ORDER BY seq DESC LIMIT 1`,
  );
  expect(entry).toMatchObject({ target: `webhook:${id}`, actor_id: admin.id });
  // The path and query of the URL may be a secret of the receiver.
  expect(entry?.['after']).toBe(
    JSON.stringify({
      origin: 'https://93.184.215.14',
      events: ['key.expiring'],
      format: 'slack',
      group_id: null,
    }),
  );
});

test.each([
  { why: 'loopback', url: 'http://127.0.0.1:9/' },
  { why: 'a metadata address', url: 'http://169.254.169.254/latest' },
  { why: 'IPv4 in IPv6', url: 'http://[::ffff:10.0.0.1]/' },
  { why: 'a private address in hex', url: 'http://0xc0a80001/' },
  { why: 'a local name', url: 'http://localhost:9/' },
  { why: 'another scheme', url: 'file:///etc/passwd' },
  { why: 'a password in the URL', url: 'https://user:pass@93.184.215.14/' },
  { why: 'no URL', url: 'receiver' },
])('a URL with $why is refused', async ({ url }) => {
  const { error } = await create({ url }, admin.token);
  expect(error).toMatchObject({ code: INVALID, message: expect.stringContaining('url') });
});

test.each([
  { why: 'no events', params: { events: [] } },
  { why: 'an unknown event', params: { events: ['everything'] } },
  {
    why: 'an event of the platform in a group',
    params: { events: ['node.offline'], inGroup: true },
  },
])('$why is refused', async ({ params: { events, inGroup } }) => {
  const { error } = await create(
    { events, ...(inGroup === true ? { group_id: groupId } : {}) },
    admin.token,
  );
  expect(error?.code).toBe(INVALID);
});

test('webhooks of the platform are for platform admins, those of a group for its admins too', async () => {
  const bearers = {
    'admin token': ADMIN_TOKEN,
    admin: admin.token,
    owner: owner.token,
    member: member.token,
    stranger: stranger.token,
  };
  const codes = async (params: object): Promise<Readonly<Record<string, unknown>>> => {
    const answers: Record<string, unknown> = {};
    for (const [who, token] of Object.entries(bearers))
      answers[who] = (await create(params, token)).error?.code ?? 'created';
    return answers;
  };
  expect(await codes({})).toEqual({
    'admin token': 'created',
    admin: 'created',
    owner: FORBIDDEN,
    member: FORBIDDEN,
    stranger: FORBIDDEN,
  });
  const { member: ofMember, stranger: ofStranger, ...others } = await codes({ group_id: groupId });
  expect(others).toEqual({ 'admin token': 'created', admin: 'created', owner: 'created' });
  expect(ofMember).toBe(FORBIDDEN);
  expect(ofStranger).not.toBe('created');
  // A group that the caller may not see does not exist.
  expect((await create({ group_id: groupId }, stranger.token)).error?.message).toBe(
    'group not found',
  );
});

test('callers see and manage only their own webhooks', async () => {
  const { id: ofPlatform } = await created({}, admin.token);
  const { id: ofGroup } = await created({ group_id: groupId }, owner.token);
  expect(await listed(admin.token)).toEqual([ofPlatform, ofGroup]);
  expect(await listed(ADMIN_TOKEN, { group_id: groupId })).toEqual([ofGroup]);
  expect(await listed(admin.token, { limit: 1, after: ofPlatform })).toEqual([ofGroup]);
  expect(await listed(owner.token)).toEqual([ofGroup]);
  expect(await listed(member.token)).toEqual([]);
  expect(await listed(stranger.token)).toEqual([]);
  const methods = ['webhooks.deliveries', 'webhooks.test', 'webhooks.remove'];
  for (const method of methods)
    for (const [webhook_id, tokens] of [
      [ofPlatform, [owner, member, stranger]],
      [ofGroup, [member, stranger]],
    ] as const)
      for (const { token } of tokens) {
        const { error } = await rpc.call(method, { webhook_id }, token);
        expect(error?.message).toBe('webhook not found');
      }
  expect(await listed(admin.token)).toHaveLength(2);
  for (const method of methods) {
    const { error } = await rpc.call(method, { webhook_id: ofGroup }, owner.token);
    expect(error).toBeUndefined();
  }
  expect(await listed(owner.token)).toEqual([]);
});

test('a test event waits for its webhook alone, and few may wait', async () => {
  const { id: webhook_id } = await created({}, admin.token);
  await created({}, admin.token);
  const answers = [];
  for (let index = 0; index < 6; index += 1)
    answers.push(await rpc.call('webhooks.test', { webhook_id }, admin.token));
  const [first] = answers;
  expect(first?.result).toEqual({ event_id: expect.stringMatching(/^evt_[0-9a-f-]{36}$/) });
  expect(answers.map(({ error }) => error !== undefined)).toEqual([
    ...Array.from({ length: 5 }, () => false),
    true,
  ]);
  const { outbox } = rpc.test.context.database;
  await outbox.publish({ now: new Date(), pendingMax: 100, withMail: false });
  const { result } = await rpc.call('webhooks.deliveries', { webhook_id, limit: 3 }, admin.token);
  const page = result as { deliveries: readonly { id: string }[]; before: string };
  expect(page).toMatchObject({ has_more: true });
  expect(page.deliveries).toHaveLength(3);
  expect(page.deliveries[0]).toMatchObject({
    event: 'webhook.test',
    status: 'pending',
    attempts: 0,
    next_attempt_at: expect.any(String),
  });
  const rest = await rpc.call(
    'webhooks.deliveries',
    { webhook_id, before: page.before },
    admin.token,
  );
  expect(rest.result).toMatchObject({ has_more: false, before: null });
  expect((rest.result as typeof page).deliveries).toHaveLength(2);
  const [rows] = await rpc.test.query('SELECT count(*)::integer AS count FROM event_deliveries');
  expect(rows?.['count']).toBe(5);
});

test('a group has at most 20 webhooks, also when they are created at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 24 }, () => create({ group_id: groupId }, owner.token)),
  );
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(20);
  const refused = answers.find(({ error }) => error !== undefined);
  expect(refused?.error).toMatchObject({
    code: -32_000,
    message: expect.stringContaining('20 webhooks'),
  });
});

test('the webhooks of a group go with it', async () => {
  const { result } = await rpc.call('group.create', { name: 'short' }, owner.token);
  const { id } = result as { id: string };
  await created({ group_id: id }, owner.token);
  await rpc.call('group.delete', { group_id: id }, owner.token);
  expect(await listed(admin.token)).toEqual([]);
});
