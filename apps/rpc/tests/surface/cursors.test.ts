import { openRpcDocument, type RpcMethodName } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { TestAccount } from '@model-gateway/testkit';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

// Every param that says which part of a list is wanted. A new one is part of this by being declared.

const INVALID_PARAMS = -32_602;
const PAGING = /^(after|before|cursor|offset|limit|from|to|since|until|hash)$/;

/** Names of what an admin made: any text may be one. */
const NAMES: readonly string[] = [
  'aliases.list after',
  'backends.list after',
  'providers.list after',
  'routes.list after',
];

const GARBAGE_TEXTS = [
  '',
  ' ',
  'garbage',
  'Infinity',
  '1e999',
  '-1',
  '9999-99-99 99:99:99+00',
  '2026-02-30T00:00:00Z',
  '+275760-09-14T00:00:00Z',
  '2026-01-01T00:00:00Z; SELECT 1',
  'a\u0000b',
  '\uD800',
  '٣',
  Buffer.from('["9999-99-99 99:99:99+00","x"]').toString('base64url'),
  Buffer.from('[[[[]]]]').toString('base64url'),
  'x'.repeat(100_000),
];
const OTHER_GARBAGE = ['{}', '[]', 'true', '["a"]', '{"after":1}', '1.5', '1e999', '-1e999'];
const EXTREME_NUMBERS = ['-1', '-0', '0', '9007199254740993', '1e308', '-1e308', '5e-324'];

interface PagedParam {
  readonly name: string;
  readonly method: RpcMethodName;
  readonly param: string;
}

const { methods } = openRpcDocument({ version: '1' });
const PARAMS: readonly PagedParam[] = methods.flatMap(({ name, params }) =>
  params
    .filter((param) => PAGING.test(param.name))
    .map((param) => ({
      name: `${name} ${param.name}`,
      method: name as RpcMethodName,
      param: param.name,
    })),
);

let rpc: RpcServer;
let admin: TestAccount;
let groupId = '';
let others: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  rpc = await startRpc();
  admin = await rpc.createAccount('admin@example.com');
  groupId = await made('group.create', { name: 'team' }, admin.token);
  const webhook = { url: 'https://93.184.215.14/hook', events: ['key.expiring'] };
  others = {
    group_id: groupId,
    conversation_id: await made('conversations.create', {}, admin.token),
    webhook_id: await made('webhooks.create', webhook, ADMIN_TOKEN),
    group_by: 'day',
  };
});
afterAll(() => rpc.test.close());

async function made(method: RpcMethodName, params: object, token: string): Promise<string> {
  const { result, error } = await rpc.call(method, params, token);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return (result as { readonly id: string }).id;
}

/** The code of the refusal of a param that is given as this JSON text; undefined when it was answered. */
async function codeOf({ method, param }: PagedParam, json: string): Promise<number | undefined> {
  const rest = needs(method);
  const params = JSON.stringify({ ...rest, [param]: null }).replace(/null(?=\}$)/, () => json);
  const response = await fetch(`${rpc.url}/api/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}` },
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
  });
  return ((await response.json()) as { error?: { code: number } }).error?.code;
}

/** The required params of a method. */
function needs(method: RpcMethodName): object {
  const described = methods.find(({ name }) => name === method);
  const names = new Set(described?.params.map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(others).filter(
      ([name]) => names.has(name) && !(name === 'group_id' && names.has('group_by')),
    ),
  );
}

test('lists of every kind have such params', () => {
  const names = PARAMS.map(({ name }) => name);
  for (const name of ['requests.list cursor', 'usage.list offset', 'usage.summary from', ...NAMES])
    expect(names).toContain(name);
});

test.each(PARAMS)(
  '$name is refused where it is none, and never an internal error',
  async (paged) => {
    const { error } = await rpc.call(paged.method, needs(paged.method), admin.token);
    expect(error).toBeUndefined();
    const answers = new Map<string, number | undefined>();
    for (const json of [...GARBAGE_TEXTS.map((text) => JSON.stringify(text)), ...OTHER_GARBAGE])
      answers.set(json, await codeOf(paged, json));
    const wrong = [...answers].filter(([json, code]) => {
      const isName = NAMES.includes(paged.name) && json.startsWith('"');
      return code !== INVALID_PARAMS && !(isName && code === undefined);
    });
    expect(wrong).toEqual([]);
    // These are taken as the nearest number that is allowed, or refused.
    for (const json of EXTREME_NUMBERS)
      expect([undefined, INVALID_PARAMS]).toContain(await codeOf(paged, json));
  },
);

/** Lists of what belongs to a user or a group, with an entry of the caller and one of somebody else. */
const OWN: Readonly<Record<string, (owner: TestAccount) => Promise<string>>> = {
  'conversations.list before': ({ token }) => made('conversations.create', {}, token),
  'group.list after': ({ token }) => made('group.create', { name: 'own' }, token),
  'keys.list before': ({ token }) => made('keys.create', { name: 'own' }, token),
  'webhooks.list after': async ({ token }) => {
    const group_id = await made('group.create', { name: 'hooked' }, token);
    const hook = { url: 'https://93.184.215.14/hook', events: ['key.expiring'], group_id };
    return made('webhooks.create', hook, token);
  },
  'video.list before': async ({ id }) => {
    const [row] = await rpc.test.query(
      `INSERT INTO video_jobs (user_id, api_key_id, model, resolved_model, request, status)
       VALUES ($1, 'jwt', 'm', 'm', '{}', 'done') RETURNING id`,
      [id],
    );
    return String(row?.['id']);
  },
};

test.each(Object.keys(OWN))('%s: an entry of another user is as unknown as any', async (name) => {
  const [method = '', param = ''] = name.split(' ');
  const [ann, bob] = await Promise.all(
    ['ann', 'bob'].map((who) => rpc.createAccount(`${who}-${newId()}@example.com`)),
  );
  if (ann === undefined || bob === undefined) throw new Error('there are no accounts');
  const make = OWN[name] ?? (() => Promise.reject(new Error('unknown')));
  const listed = async (cursor?: string) => {
    const params = cursor === undefined ? {} : { [param]: cursor };
    const { result, error } = await rpc.call(method, params, ann.token);
    expect(error).toBeUndefined();
    const lists = result as Readonly<Record<string, unknown>> | readonly unknown[];
    return Array.isArray(lists) ? lists : Object.values(lists).find(Array.isArray);
  };
  // Older and newer than the one of the other user.
  const first = await make(ann);
  const foreign = await make(bob);
  const last = await make(ann);
  expect(await listed()).toHaveLength(2);
  const counts = [(await listed(first))?.length, (await listed(last))?.length];
  expect(new Set(counts)).toEqual(new Set([0, 1]));
  expect(await listed(newId())).toEqual([]);
  expect(await listed(foreign)).toEqual([]);
});
