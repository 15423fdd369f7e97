import { rpcMethods } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { TestAccount } from '@model-gateway/testkit';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

let rpc: RpcServer;
beforeAll(async () => {
  rpc = await startRpc();
});
afterAll(() => rpc.test.close());

const self = async (bearer?: string) => {
  const { result, error } = await rpc.call('ledger.self', {}, bearer);
  return error ?? rpcMethods['ledger.self'].result.parse(result);
};

/** Adds points to the wallet of an account, through a group that it owns. */
async function fund({ id, email }: TestAccount, points: number, times = 1): Promise<void> {
  const { groups, ledger } = rpc.test.context.database;
  const groupId = newId();
  await groups.create({ id: groupId, ownerId: id, name: 'g', description: '' });
  await ledger.topUp({ groupId, points: points * times });
  for (let time = 0; time < times; time += 1) await ledger.allocate({ groupId, email, points });
}

test('without an admin account the admin token has no wallet', async () => {
  expect(await self(ADMIN_TOKEN)).toMatchObject({
    code: -32_000,
    message: expect.stringContaining('no admin account'),
  });
});

test('a wallet is empty at first, and every user sees only their own', async () => {
  const admin = await rpc.createAccount('admin@example.com');
  const member = await rpc.createAccount('member@example.com');
  expect(await self(member.token)).toEqual({ balance: 0, entries: [] });
  await fund(admin, 11);
  await fund(member, 7);
  expect(await self(member.token)).toMatchObject({ balance: 7, entries: [{ delta: 7 }] });
  expect(await self(admin.token)).toMatchObject({ balance: 11, entries: [{ delta: 11 }] });
  expect(await self(ADMIN_TOKEN)).toEqual(await self(admin.token));
});

test('the newest 50 entries are shown, newest first', async () => {
  const user = await rpc.createAccount('busy@example.com');
  await fund(user, 1, 53);
  const wallet = rpcMethods['ledger.self'].result.parse(
    (await rpc.call('ledger.self', {}, user.token)).result,
  );
  expect(wallet.balance).toBe(53);
  expect(wallet.entries.map(({ balance_after }) => balance_after)).toEqual(
    Array.from({ length: 50 }, (_, index) => 53 - index),
  );
});

test('without a token there is no wallet', async () => {
  expect(await self()).toEqual({ code: -32_005, message: 'authentication required' });
});
