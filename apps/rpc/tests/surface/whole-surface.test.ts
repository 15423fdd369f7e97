import { rpcMethods } from '@model-gateway/contracts';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

let rpc: RpcServer;
beforeAll(async () => {
  rpc = await startRpc();
});
afterAll(() => rpc.test.close());

test('every declared method exists for every caller', async () => {
  const { token } = await rpc.createAccount('admin@example.com');
  for (const method of Object.keys(rpcMethods)) {
    for (const bearer of [undefined, token, ADMIN_TOKEN]) {
      const { error } = await rpc.call(method, { wrong: true }, bearer);
      expect(error?.code).not.toBe(-32_601);
    }
  }
});
