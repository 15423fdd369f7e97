import { rpcMethods } from '@model-gateway/contracts';
import { NOT_AVAILABLE_YET } from '../src/methods/not-available-yet.ts';
import { ADMIN_TOKEN, startRpc, type RpcServer } from './rpc-server.ts';

let rpc: RpcServer;
beforeAll(async () => {
  rpc = await startRpc();
});
afterAll(() => rpc.test.close());

test('these methods wait for their engine, and no other: the list can only shrink', () => {
  expect(NOT_AVAILABLE_YET.toSorted()).toEqual([
    'agents.deploy',
    'agents.deregister',
    'agents.list',
    'agents.register',
    'agents.status',
    'agents.stop',
    'video.cancel',
    'video.create',
    'video.get',
    'video.list',
  ]);
});

test('every method of the plane is there: none is unknown, whoever asks', async () => {
  const { token } = await rpc.register('admin@example.com');
  for (const method of Object.keys(rpcMethods)) {
    for (const bearer of [undefined, token, ADMIN_TOKEN]) {
      const { error } = await rpc.call(method, { wrong: true }, bearer);
      expect(error?.code).not.toBe(-32_601);
    }
  }
});

test('a method that waits says so', async () => {
  const { token } = await rpc.register('member@example.com');
  expect((await rpc.call('video.list', {}, token)).error).toEqual({
    code: -32_000,
    message: 'not available yet',
  });
});
