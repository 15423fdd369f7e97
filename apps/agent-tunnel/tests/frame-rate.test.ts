import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { silentLog } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { createTunnel } from '@model-gateway/tunnel';
import { WebSocket, WebSocketServer } from 'ws';
import { createAgentLink, type AgentLink } from '../src/nodes/agent-link.ts';
import { createFrameAllowances } from '../src/nodes/frame-allowance.ts';

const TOKENS = 8_000;
const HEARTBEATS = 6_000;
const HELLO = { version: '1', gpus: [], models: [], tunnel: 1 };

/** A node and the link of the service to it. */
interface Connected {
  readonly link: AgentLink;
  readonly node: WebSocket;
  /** How many heartbeats the service has read. */
  readonly heartbeats: () => number;
  /** How often the service has paused its reading. */
  readonly delays: () => number;
}

let server: WebSocketServer;
/** Stands still, so that the speed of the machine changes nothing. */
let now = 0;
const allowances = createFrameAllowances(() => now);
beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
});
afterAll(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});

async function connect(agentId: string): Promise<Connected> {
  const node = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  let heartbeats = 0;
  let delays = 0;
  const link = createAgentLink({
    socket,
    agentId,
    allowance: allowances.of(agentId),
    heartbeatMs: 60_000,
    timeoutMs: 180_000,
    onRefused: () => undefined,
    onDelayed: () => (delays += 1),
    log: silentLog,
    events: {
      onHello: () => link.welcome({}),
      onHeartbeat: () => (heartbeats += 1),
      onProgress: () => undefined,
      isDeploying: () => false,
      onClosed: () => undefined,
    },
  });
  if (node.readyState !== node.OPEN) await once(node, 'open');
  const welcomed = once(node, 'message');
  node.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Agent.Hello', params: HELLO }));
  await welcomed;
  return { link, node, heartbeats: () => heartbeats, delays: () => delays };
}

test('a fast stream of tokens passes without a delay', async () => {
  const { link, node, delays } = await connect('fast');
  const tunnel = createTunnel({
    send: (frame, onSent) => node.send(frame, () => onSent()),
    onOpen: (_head, exchange) => {
      exchange.body.resume();
      exchange.respond({ status: 200, headers: [] });
      for (let count = 0; count < TOKENS; count += 1) exchange.body.write('data: x\n\n');
      exchange.body.end();
    },
  });
  node.on('message', (data: Buffer, isBinary) => {
    if (isBinary) tunnel.receive(data);
  });
  const exchange = link.openExchange({ path: '/v1/chat/completions' });
  exchange.body.end();
  expect((await text(exchange.body)).split('data: x').length - 1).toBe(TOKENS);
  expect(delays()).toBe(0);
});

test('a node that floods the service is read slowly, and the others are not', async () => {
  const hostile = await connect('hostile');
  const other = await connect('other');
  const heartbeat = JSON.stringify({ jsonrpc: '2.0', method: 'Agent.Heartbeat', params: {} });
  for (let count = 0; count < HEARTBEATS; count += 1) hostile.node.send(heartbeat);
  await waitUntil(() => hostile.delays() > 0, { what: 'a delay' });
  other.node.send(heartbeat);
  await waitUntil(() => other.heartbeats() === 1);
  expect(other.delays()).toBe(0);
  // Its allowance, and what had arrived before its connection was paused.
  expect(hostile.heartbeats()).toBeGreaterThan(1_000);
  expect(hostile.heartbeats()).toBeLessThan(HEARTBEATS);
});

test('what is beyond the allowance is read later', async () => {
  const { node, heartbeats, delays } = await connect('eager');
  const heartbeat = JSON.stringify({ jsonrpc: '2.0', method: 'Agent.Heartbeat', params: {} });
  for (let count = 0; count < HEARTBEATS; count += 1) node.send(heartbeat);
  await waitUntil(() => delays() > 0, { what: 'a delay' });
  expect(heartbeats()).toBeLessThan(HEARTBEATS);
  const readLater = (): boolean => {
    now += 10_000;
    return heartbeats() === HEARTBEATS;
  };
  await waitUntil(readLater, { what: 'all heartbeats' });
});
