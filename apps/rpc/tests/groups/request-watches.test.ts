import { REQUESTS_CHANNEL, requestNotice } from '@model-gateway/contracts';
import type { TestAccount } from '@model-gateway/testkit';
import { openStream, startRpc, type RpcServer, type TestStream } from '../rpc-server.ts';

let rpc: RpcServer;
let admin: TestAccount;
let owner: TestAccount;
let groupId: string;
beforeAll(async () => {
  rpc = await startRpc();
  admin = await rpc.createAccount('admin@example.com');
  owner = await rpc.createAccount('owner@example.com');
  const { result } = await rpc.call('group.create', { name: 'team' }, owner.token);
  groupId = (result as { readonly id: string }).id;
});
afterAll(() => rpc.test.close());

/** The stream of a watch, without a token: knowing its id is enough. */
async function watch(user: TestAccount, params: object): Promise<TestStream> {
  const { result } = await rpc.call('requests.watch', params, user.token);
  const { stream_id } = result as { readonly stream_id: string };
  const stream = await openStream(`${rpc.url}/api/rpc/events?session=${stream_id}`);
  expect(await stream.next()).toBe(': connected');
  return stream;
}

const announce = (): Promise<unknown> =>
  rpc.test.context.bus.channels.publish(
    REQUESTS_CHANNEL,
    requestNotice([{ userId: owner.id, groupId }]),
  );

test.each([
  {
    who: 'a removed member',
    email: 'removed@example.com',
    scope: 'group',
    begin: (email: string) =>
      rpc.call('group.members.add', { group_id: groupId, email, role: 'admin' }, owner.token),
    end: ({ email }: TestAccount) =>
      rpc.call('group.members.remove', { group_id: groupId, user_id: email }, owner.token),
  },
  {
    who: 'a demoted platform admin',
    email: 'demoted@example.com',
    scope: undefined,
    begin: async (email: string) => {
      const { result } = await rpc.call('users.list', { search: email }, admin.token);
      const [user] = (result as { readonly users: readonly { readonly id: string }[] }).users;
      return rpc.call('users.update', { user_id: user?.id, is_admin: true }, admin.token);
    },
    end: ({ id }: TestAccount) =>
      rpc.call('users.update', { user_id: id, is_admin: false }, admin.token),
  },
])('$who hears nothing more of requests', async ({ email, scope, begin, end }) => {
  const user = await rpc.createAccount(email);
  await begin(email);
  const ended = await watch(user, { scope, group_id: groupId });
  const kept = await watch(owner, { scope: 'group', group_id: groupId });
  await announce();
  expect(await ended.next()).toContain('"requests.changed"');
  expect(await kept.next()).toContain('"requests.changed"');
  expect((await end(user)).error).toBeUndefined();
  const silent = ended.next().then(
    (line) => line,
    () => 'nothing',
  );
  await announce();
  expect(await kept.next()).toContain('"requests.changed"');
  await announce();
  expect(await kept.next()).toContain('"requests.changed"');
  ended.close();
  kept.close();
  expect(await silent).toBe('nothing');
});
