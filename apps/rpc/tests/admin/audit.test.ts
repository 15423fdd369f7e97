import type { RpcMethodName } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { RpcAnswer, TestAccount } from '@model-gateway/testkit';
import { ADMIN_TOKEN, openSocket, startRpc, type RpcServer } from '../rpc-server.ts';
import { RECORDED } from './declared-audits.ts';

interface Entry {
  readonly seq: number;
  readonly actor: string;
  readonly actor_id: string | null;
  readonly actor_email: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly client_ip: string;
  readonly request_id: string;
}

const PASSWORD = 'long enough';
const WEBHOOK = { url: 'https://93.184.215.14/hook', events: ['video.done'] };

let rpc: RpcServer;
let admin: TestAccount;
let owner: TestAccount;
beforeAll(async () => {
  rpc = await startRpc();
  admin = await rpc.createAccount('admin@example.com');
  owner = await rpc.createAccount('owner@example.com');
});
afterAll(() => rpc.test.close());

async function entries(filter: object = {}): Promise<readonly Entry[]> {
  const { result } = await rpc.call('audit.list', { limit: 500, ...filter }, admin.token);
  return (result as { readonly entries: readonly Entry[] }).entries;
}

const groupOf = async (more: object = {}) => {
  const { result } = await rpc.call('group.create', { name: 'Team', ...more }, owner.token);
  return (result as { readonly id: string }).id;
};

const member = async () => (await rpc.createAccount(`${newId()}@example.com`)).email;

const provider = async () => {
  const id = newId();
  await rpc.call('providers.add', { id, name: 'P' }, admin.token);
  return id;
};

/** Nothing listens there. */
const BACKEND = {
  type: 'external',
  url: 'http://127.0.0.1:9/v1?key=query-secret',
  api_key: 'up-secret',
};

const backend = async () => {
  const name = newId();
  await rpc.call('backends.add', { ...BACKEND, name }, admin.token);
  return name;
};

const node = async () => {
  const params = { machine_name: 'node', version: '1' };
  const { result } = await rpc.call('agents.register', params, admin.token);
  return (result as { readonly agent_id: string }).agent_id;
};

const key = async () => {
  const { result } = await rpc.call('keys.create', { name: 'k' }, owner.token);
  return (result as { readonly id: string }).id;
};

type Example = readonly [params: object, bearer?: string];

/** A successful call of every method that is recorded. */
const EXAMPLES: Partial<Record<RpcMethodName, () => Promise<Example>>> = {
  'auth.password.change': async () => {
    const { token } = await rpc.createAccount(`${newId()}@example.com`);
    return [{ current: PASSWORD, next: 'another password' }, token];
  },
  'auth.register': async () => [
    { email: `${newId()}@example.com`, password: PASSWORD },
    ADMIN_TOKEN,
  ],
  'auth.password.reset': async () => {
    const { id } = await rpc.createAccount(`${newId()}@example.com`);
    const { result } = await rpc.call('users.reset_link', { user_id: id }, admin.token);
    return [{ token: (result as { token: string }).token, password: 'another password' }];
  },
  'users.update': async () => [{ user_id: owner.id, tier: 'pro', name: 'Owner' }, admin.token],
  'users.reset_link': async () => [{ user_id: owner.id }, ADMIN_TOKEN],
  'users.erase': async () => {
    const { id } = await rpc.createAccount(`${newId()}@example.com`);
    return [{ user_id: id }, admin.token];
  },
  'keys.create': async () => [{ name: 'k' }, owner.token],
  'keys.update': async () => [{ key_id: await key(), rpm: 5 }, owner.token],
  'keys.rotate': async () => [{ key_id: await key() }, owner.token],
  'keys.revoke': async () => [{ key_id: await key() }, owner.token],
  'group.create': async () => [{ name: 'Team' }, owner.token],
  'group.update': async () => [{ group_id: await groupOf(), rpm_ceiling: 5 }, owner.token],
  'group.delete': async () => [{ group_id: await groupOf() }, owner.token],
  'group.members.add': async () => [
    { group_id: await groupOf(), email: await member() },
    owner.token,
  ],
  'group.members.update': async () => {
    const [group_id, email] = [await groupOf(), await member()];
    await rpc.call('group.members.add', { group_id, email }, owner.token);
    return [{ group_id, user_id: email, is_active: false }, owner.token];
  },
  'group.members.remove': async () => {
    const [group_id, email] = [await groupOf(), await member()];
    await rpc.call('group.members.add', { group_id, email }, owner.token);
    return [{ group_id, user_id: email }, owner.token];
  },
  'group.invite.create': async () => [
    { group_id: await groupOf(), email: 'guest@example.com' },
    owner.token,
  ],
  'group.invite.accept': async () => {
    const params = { group_id: await groupOf() };
    const { result } = await rpc.call('group.invite.create', params, owner.token);
    return [{ token: (result as { token: string }).token }, admin.token];
  },
  'group.models.allow': async () => [{ group_id: await groupOf(), model_ids: ['m'] }, owner.token],
  'group.models.deny': async () => [{ group_id: await groupOf(), model_ids: ['m'] }, owner.token],
  'group.credits.topup': async () => [{ group_id: await groupOf(), points: 5 }, admin.token],
  'group.credits.allocate': async () => {
    const group_id = await groupOf();
    await rpc.call('group.credits.topup', { group_id, points: 5 }, admin.token);
    return [{ group_id, user_id: owner.email, points: 2 }, owner.token];
  },
  'providers.add': async () => [{ id: newId(), name: 'P' }, admin.token],
  'providers.update': async () => [{ provider_id: await provider(), name: 'Q' }, admin.token],
  'providers.remove': async () => [{ provider_id: await provider() }, admin.token],
  'backends.add': async () => [{ ...BACKEND, name: newId() }, admin.token],
  'backends.update': async () => [{ name: await backend(), url: BACKEND.url }, admin.token],
  'backends.remove': async () => [{ name: await backend() }, ADMIN_TOKEN],
  'aliases.set': async () => [{ alias: newId(), target: 'm' }, admin.token],
  'aliases.remove': async () => [{ alias: newId() }, ADMIN_TOKEN],
  'routes.set': async () => [{ model: newId(), targets: [{ model: 'm' }] }, admin.token],
  'routes.remove': async () => {
    const model = newId();
    await rpc.call('routes.set', { model, targets: [{ model: 'm' }] }, admin.token);
    return [{ model }, admin.token];
  },
  'agents.register': async () => [{ machine_name: 'node', version: '1' }, admin.token],
  'agents.deregister': async () => [{ agent_id: await node() }, admin.token],
  'billing.plan.set': async () => [{ user_email: owner.email, tier: 'pro' }, ADMIN_TOKEN],
  'billing.tiers.set': async () => [{ name: 'gold', rpm: 5 }, ADMIN_TOKEN],
  'billing.pricing.set': async () => [
    { pattern: 'm', input_per_million: 1, output_per_million: 2 },
    ADMIN_TOKEN,
  ],
  'billing.pricing.import': async () => [
    { catalogue: { m: { input_cost_per_token: 1e-6 } } },
    ADMIN_TOKEN,
  ],
  'billing.video.pricing.set': async () => [{ model: 'v', base_price: 1 }, ADMIN_TOKEN],
  'usage.halts.skip': async () => {
    const id = newId();
    await rpc.test.context.database.rejectedUsage.halt({ id, event: '{}', error: 'no' });
    return [{ event_id: id }, ADMIN_TOKEN];
  },
  'webhooks.create': async () => [WEBHOOK, admin.token],
  'webhooks.remove': async () => {
    const { result } = await rpc.call('webhooks.create', WEBHOOK, admin.token);
    return [{ webhook_id: (result as { id: string }).id }, ADMIN_TOKEN];
  },
};

/** They need a GPU node that is connected; the tests of the tunnel have one. */
const WITHOUT_EXAMPLE: readonly RpcMethodName[] = ['agents.deploy', 'agents.stop'];

test('every recorded method is tried here', () => {
  const tried = [...Object.keys(EXAMPLES), ...WITHOUT_EXAMPLE];
  expect(RECORDED.toSorted()).toEqual(tried.toSorted());
});

test.each(RECORDED.filter((name) => !WITHOUT_EXAMPLE.includes(name)))(
  '%s has one entry, with who, what and from where, and without secrets and emails',
  async (name) => {
    const [params, bearer] = (await EXAMPLES[name]?.()) ?? [{}];
    const before = (await entries()).filter(({ action }) => action === name).length;
    const { error, result } = await rpc.call(name, params, bearer);
    expect(error).toBeUndefined();
    const made = (await entries()).filter(({ action }) => action === name);
    expect(made).toHaveLength(before + 1);
    const [entry] = made;
    const actor =
      bearer === ADMIN_TOKEN ? 'admin-token' : bearer === undefined ? 'reset-link' : 'user';
    expect(entry).toMatchObject({
      actor,
      target: expect.stringMatching(/^[a-z-]+:./),
      client_ip: '127.0.0.1',
      request_id: expect.stringMatching(/./),
    });
    const recorded = JSON.stringify([entry?.target, entry?.before, entry?.after]);
    expect(recorded).not.toContain('@example.com');
    expect(entry?.actor_id === null).toBe(actor !== 'user');
    const fields = ['token', 'key', 'api_key', 'password', 'next', 'current', 'secret'];
    expect(recorded).not.toContain('query-secret');
    const secrets = fields.flatMap((field) =>
      [params, Object(result)].flatMap((given: object): unknown => Reflect.get(given, field) ?? []),
    );
    expect(secrets.filter((secret) => recorded.includes(String(secret)))).toEqual([]);
  },
);

test('an entry shows what was before and after', async () => {
  const { id } = await rpc.createAccount('shown@example.com');
  await rpc.call('users.update', { user_id: id, tier: 'pro', active: false }, admin.token);
  const [entry] = await entries({ target: `user:${id}` });
  expect(entry).toMatchObject({
    actor: 'user',
    actor_id: admin.id,
    actor_email: admin.email,
    action: 'users.update',
    before: { is_admin: false, active: true, tier: 'free' },
    after: { is_admin: false, active: false, tier: 'pro' },
  });
});

test('an entry names a deactivated user too', async () => {
  const { id, email } = await rpc.createAccount('left@example.com');
  const groupId = await groupOf();
  const membership = { group_id: groupId, user_id: email };
  await rpc.call('group.members.add', { group_id: groupId, email }, owner.token);
  await rpc.call('users.update', { user_id: id, active: false }, admin.token);
  await rpc.call('group.members.update', { ...membership, cost_multiplier: 2 }, owner.token);
  await rpc.call('group.members.remove', membership, owner.token);
  expect(await entries({ target: `group:${groupId}/user:${id}` })).toMatchObject([
    { action: 'group.members.remove', before: { cost_multiplier: 2 }, after: null },
    { action: 'group.members.update', after: { cost_multiplier: 2 } },
    { action: 'group.members.add' },
  ]);
  await rpc.call('billing.plan.set', { user_email: email, tier: 'pro' }, ADMIN_TOKEN);
  const [entry] = await entries({ target: `user:${id}` });
  expect(entry).toMatchObject({
    action: 'billing.plan.set',
    before: { tier: 'free' },
    after: { tier: 'pro' },
  });
});

test('an entry says that the name or metadata of a key was changed, and not to what', async () => {
  const { result } = await rpc.call('keys.create', { name: 'the laptop of Ada' }, owner.token);
  const { id } = result as { readonly id: string };
  const update = (changes: object) =>
    rpc.call('keys.update', { key_id: id, ...changes }, owner.token);
  await update({ name: 'the phone of Ada', metadata: { who: 'Ada' } });
  await update({ rpm: 5 });
  const [limited, renamed] = await entries({ target: `key:${id}` });
  expect(limited?.after).not.toHaveProperty('changed');
  expect(renamed?.after).toMatchObject({ changed: ['name', 'metadata'] });
  expect(JSON.stringify(renamed)).not.toContain('Ada');
});

test('an account that a page registers with the admin token has an entry, others have none', async () => {
  const register = async (headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${rpc.url}/api/session/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: rpc.url, ...headers },
      body: JSON.stringify({ email: `${newId()}@example.com`, password: PASSWORD }),
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as { user: { id: string } }).user.id;
  };
  const id = await register({ authorization: `Bearer ${ADMIN_TOKEN}`, 'x-request-id': 'page-1' });
  expect(await entries({ target: `user:${id}` })).toMatchObject([
    {
      actor: 'admin-token',
      action: 'auth.register',
      before: null,
      after: { is_admin: false, active: true },
      request_id: 'page-1',
    },
  ]);
  expect(await entries({ target: `user:${await register({})}` })).toEqual([]);
});

test('entries of an alias show its target before and after', async () => {
  const alias = newId();
  await rpc.call('aliases.set', { alias, target: 'm' }, admin.token);
  await rpc.call('aliases.set', { alias, target: 'n' }, admin.token);
  await rpc.call('aliases.remove', { alias }, ADMIN_TOKEN);
  expect(await entries({ target: `alias:${alias}` })).toMatchObject([
    { action: 'aliases.remove', before: { target: 'n' }, after: null },
    { action: 'aliases.set', before: { target: 'm' }, after: { target: 'n' } },
    { action: 'aliases.set', before: null, after: { target: 'm' } },
  ]);
});

test('a refused call has no entry, and leaves no change', async () => {
  const before = (await entries()).length;
  const refused: RpcAnswer[] = [
    await rpc.call('users.update', { user_id: admin.id, is_admin: false }, admin.token),
    await rpc.call('users.update', { user_id: owner.id, name: 'x', tier: 'none' }, admin.token),
    await rpc.call('users.update', { user_id: owner.id, name: 'x' }, owner.token),
    await rpc.call('auth.password.reset', { token: 'rst-x', password: 'long enough' }),
  ];
  expect(refused.filter(({ error }) => error === undefined)).toEqual([]);
  expect(await entries()).toHaveLength(before);
});

test('a change and its entry are stored together or not at all', async () => {
  const { id } = await rpc.createAccount('together@example.com');
  await rpc.test.query(
    `ALTER TABLE audit_entries ADD CONSTRAINT refuse CHECK (action <> 'users.update') NOT VALID`,
  );
  const { error } = await rpc.call('users.update', { user_id: id, is_admin: true }, admin.token);
  await rpc.test.query('ALTER TABLE audit_entries DROP CONSTRAINT refuse');
  expect(error).toMatchObject({ code: -32_603 });
  const { result } = await rpc.call('users.get', { user_id: id }, admin.token);
  expect(result).toMatchObject({ is_admin: false });
});

test('a change over a socket is recorded too', async () => {
  const socket = await openSocket(rpc.url, owner.token);
  const { result } = await socket.call('group.create', { name: 'by socket' });
  socket.socket.terminate();
  const { id } = result as { readonly id: string };
  expect(await entries({ target: `group:${id}` })).toMatchObject([{ actor_id: owner.id }]);
});

test('times of every year that JSON can name are understood', async () => {
  const year = { from: '0000-01-01T00:00:00Z', to: '9999-12-31T23:59:59Z', limit: 1 };
  const { result } = await rpc.call('audit.list', year, ADMIN_TOKEN);
  expect(result).toMatchObject({ entries: [expect.any(Object)] });
});

test('entries are listed in pages and found by what they are about', async () => {
  const first = await rpc.call('audit.list', { limit: 2 }, ADMIN_TOKEN);
  const page = first.result as { entries: Entry[]; has_more: boolean; before: number };
  expect(page).toMatchObject({ has_more: true, before: page.entries[1]?.seq });
  const [next] = await entries({ before: page.before, limit: 1 });
  expect(next?.seq).toBe(page.before - 1);
  const own = await entries({ actor_id: owner.id, action: 'group.create' });
  expect(own.length).toBeGreaterThan(0);
  expect(new Set(own.map(({ actor_id, action }) => `${actor_id} ${action}`)).size).toBe(1);
  expect(await entries({ to: '2020-01-01T00:00:00Z' })).toEqual([]);
});

test('the chain is verified in steps, and a changed entry is named', async () => {
  const verify = async (params: object = {}) =>
    (await rpc.call('audit.verify', params, admin.token)).result as Record<string, unknown>;
  const whole = await verify();
  expect(whole).toMatchObject({ ok: true, has_more: false, broken: null });
  const step = await verify({ limit: 3 });
  expect(step).toMatchObject({ ok: true, checked: 3, after: 3, has_more: true });
  const { after, hash } = step;
  expect(await verify({ after, hash })).toMatchObject({ ok: true, hash: whole['hash'] });
  expect((await rpc.call('audit.verify', { after: 3 }, admin.token)).error).toMatchObject({
    code: -32_602,
  });
  await rpc.test.query('ALTER TABLE audit_entries DISABLE TRIGGER USER');
  await rpc.test.query(`UPDATE audit_entries SET action = 'nothing' WHERE seq = 5`);
  expect(await verify()).toMatchObject({ ok: false, checked: 4, broken: { seq: 5 } });
  await rpc.test.query(`UPDATE audit_entries SET at = 'infinity' WHERE seq = 4`);
  expect(await verify()).toMatchObject({ ok: false, broken: { seq: 4 } });
  expect((await entries()).map(({ seq }) => seq)).toContain(4);
});

test('who was erased is not in the log any more', async () => {
  const gone = await rpc.createAccount('gone@example.com');
  await rpc.call('keys.create', { name: 'k' }, gone.token);
  expect(await entries({ actor_id: gone.id })).toMatchObject([{ actor_email: gone.email }]);
  await rpc.call('users.erase', { user_id: gone.id }, admin.token);
  expect(JSON.stringify(await entries())).not.toContain(gone.email);
});
