import { newId } from '@model-gateway/kernel';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

const INVALID_PARAMS = -32_602;
const PAST = '2020-01-01T00:00:00Z';
const HOOK = { url: 'https://93.184.215.14/hook', events: ['key.expiring'] };

let rpc: RpcServer;
let token: string;
let groupId: string;
beforeAll(async () => {
  rpc = await startRpc();
  ({ token } = await rpc.createAccount('admin@example.com'));
  const { result } = await rpc.call('group.create', { name: 'team' }, token);
  groupId = (result as { readonly id: string }).id;
});
afterAll(() => rpc.test.close());

const cursorAt = (time: string): string =>
  Buffer.from(JSON.stringify([time, newId()])).toString('base64url');

/** Params that fit the schema of the method, and that its rules refuse. */
const refused: readonly (readonly [string, object, string])[] = [
  ['keys.create', { name: 'old', expires_at: PAST }, 'expires_at'],
  ['keys.create', { name: 'free', budget_period: 'day' }, 'budget_period'],
  ['usage.summary', { group_by: 'day', from: '2026-02-01', to: '2026-01-01' }, 'from'],
  ['usage.summary', { group_by: 'hour', from: '2025-01-01', to: '2026-01-01' }, 'from'],
  ['usage.summary', { group_by: 'day', scope: 'group' }, 'group_id'],
  ['requests.list', { scope: 'group' }, 'group_id'],
  ['requests.list', { from: '2026-02-01', to: '2026-01-01' }, 'from'],
  ['audit.list', { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'from'],
  ['requests.list', { cursor: 'of another list' }, 'cursor'],
  ['requests.list', { cursor: cursorAt('2026-02-30 00:00:00+00') }, 'cursor'],
  ['requests.list', { cursor: cursorAt('2026-99-99 99:99:99+00') }, 'cursor'],
  ['audit.verify', { after: 3 }, 'hash'],
  ['audit.verify', { hash: 'a'.repeat(64) }, 'after'],
  ['webhooks.create', { ...HOOK, url: 'http://127.0.0.1/' }, 'url'],
];

test.each(refused)('%s with %j names the field in data.issues', async (method, params, path) => {
  const { error } = await rpc.call(method, params, token);
  expect(error).toMatchObject({
    code: INVALID_PARAMS,
    message: expect.stringMatching(new RegExp(`^Invalid params: '${path}': .`)),
    data: { issues: [{ path, message: expect.stringMatching(/./) }] },
  });
});

test('so does an event of the platform for a webhook of a group', async () => {
  const params = { ...HOOK, events: ['backend.healthy'], group_id: groupId };
  const { error } = await rpc.call('webhooks.create', params, ADMIN_TOKEN);
  expect(error).toMatchObject({ code: INVALID_PARAMS, data: { issues: [{ path: 'events' }] } });
});
