import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMeasuredBodyMemory } from '@model-gateway/http';
import { createMetrics, silentLog } from '@model-gateway/kernel';
import { WebSocket } from 'ws';
import { createSseTransport } from '../../src/transports/sse.ts';
import { createWebSocketTransport } from '../../src/transports/websocket.ts';
import { openStream } from '../rpc-server.ts';

const accounts = { authenticate: async () => undefined };
const anonymous = {
  clientOf: () => ({ clientIp: '127.0.0.1', isLocalClient: true }),
  places: { take: async () => () => undefined },
  bodyMemory: createMeasuredBodyMemory(1024, createMetrics()),
};

test('a socket that misses two pongs is closed, one that sends them stays open', async () => {
  const transport = createWebSocketTransport({
    dispatcher: {
      dispatch: async (text) => ({
        text,
        copies: [text],
        closesConnection: false,
        isSignedOut: false,
      }),
    },
    accounts,
    signInEnds: { hasEnded: () => false, onEnd: () => () => undefined },
    isAdminToken: () => true,
    ...anonymous,
    anonymousIdleMs: 60_000,
    metrics: createMetrics(),
    log: silentLog,
    pingMs: 50,
  });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => transport.upgrade(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `ws://127.0.0.1:${port}/api/rpc?token=x`;
  const responsive = new WebSocket(url);
  await once(responsive, 'open');
  const unresponsive = new WebSocket(url, { autoPong: false });
  await once(unresponsive, 'close');
  expect(responsive.readyState).toBe(WebSocket.OPEN);
  const closed = once(responsive, 'close');
  await transport.close();
  await closed;
  server.close();
});

test('an event stream is kept alive by a comment', async () => {
  const sse = createSseTransport({
    sessions: {
      listen: async () => ({ close: async () => undefined }),
      ownerOf: async () => undefined,
    },
    accounts,
    signInEnds: { hasEnded: () => false, onEnd: () => () => undefined },
    ...anonymous,
    metrics: createMetrics(),
    sessionAuth: false,
    endOfLost: async () => undefined,
    keepaliveMs: 20,
  });
  const server = createServer((request, response) => void sse.handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stream = await openStream(`http://127.0.0.1:${port}/api/rpc/events?session=alive`);
  expect(await stream.next()).toBe(': connected');
  expect(await stream.nextLine()).toBe(': keepalive');
  expect(await stream.nextLine()).toBe(': keepalive');
  stream.close();
  sse.close();
  server.close();
});
