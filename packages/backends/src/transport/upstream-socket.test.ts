import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { openUpstreamSocket } from './upstream-socket.ts';

const HEARTBEAT_MS = 200;

async function startPeer(autoPong: boolean): Promise<{ url: string; server: WebSocketServer }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong });
  await once(server, 'listening');
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

function connectionOf(server: WebSocketServer): WebSocket {
  for (const connection of server.clients) return connection;
  throw new Error('no connection');
}

test('a stall of this process does not count as silence of the upstream; a missing pong does', async () => {
  const [alive, silent] = [await startPeer(true), await startPeer(false)];
  const closed: string[] = [];
  const open = (peer: { url: string }): ReturnType<typeof openUpstreamSocket> =>
    openUpstreamSocket({
      url: peer.url,
      connectTimeoutMs: 60_000,
      heartbeatMs: HEARTBEAT_MS,
      onText: () => undefined,
      onClosed: (failure) => closed.push(failure.message),
    });

  const socket = await open(alive);
  const connection = connectionOf(alive.server);
  const pingOrClose = (): Promise<unknown> =>
    Promise.race([once(connection, 'ping'), once(connection, 'close')]);
  for (let round = 0; round < 3; round += 1) {
    await pingOrClose();
    // Longer than the time for a pong: no timer runs, and no socket is read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HEARTBEAT_MS * 2);
  }
  await pingOrClose();
  expect({ closed, isOpen: socket.isOpen }).toEqual({ closed: [], isOpen: true });
  socket.leave();

  await open(silent);
  await once(connectionOf(silent.server), 'close');
  expect(closed).toEqual([expect.stringContaining('did not reply to pings')]);
  alive.server.close();
  silent.server.close();
});
