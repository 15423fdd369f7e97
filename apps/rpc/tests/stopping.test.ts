import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startRpc } from './rpc-server.ts';

test('an open WebSocket does not keep a process that stops, and is told that it goes', async () => {
  const rpc = await startRpc();
  const { token } = await rpc.register('ann@example.com');
  const socket = new WebSocket(`${rpc.url.replace('http', 'ws')}/api/rpc?token=${token}`);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await rpc.test.close();
  const [code]: unknown[] = await closed;
  expect(code).toBe(1001);
});
