import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitUntil } from '@model-gateway/testkit';
import { createTunnel, type Exchange } from '@model-gateway/tunnel';
import { deployOn, startScene, type Scene } from './scene.ts';
import { connectAgent, type SimulatedAgent } from './simulated-agent.ts';

type Answer = (exchange: Exchange) => void;

/** A connection of a gateway. */
interface Connection {
  readonly socket: Socket;
  readonly ask: () => void;
  /** What has arrived. */
  readonly text: () => string;
}

/** Nothing listens there, so requests pass through the tunnel. */
const PORT = 9;
const SMUGGLED = 'HTTP/1.1 299 Smuggled\r\ncontent-length: 0\r\n\r\n';

let scene: Scene;
let agent: SimulatedAgent;
let agentId = '';
let answer: Answer = () => undefined;

beforeAll(async () => {
  scene = await startScene();
  const { agent_id, token } = await scene.register('hostile');
  agentId = agent_id;
  agent = await connectAgent(scene.tunnelUrl, token, { tunnel: 1 });
  const tunnel = createTunnel({
    send: (frame, onSent) => agent.socket.send(frame, () => onSent()),
    onOpen: (head, exchange) => {
      exchange.body.resume();
      if (JSON.stringify(head).includes('/v1/models')) respond(exchange, [], '{"data":[]}');
      else answer(exchange);
    },
  });
  agent.socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) tunnel.receive(data);
  });
  await deployOn(scene, { agent, agent_id }, PORT);
});
afterAll(() => scene.close());

function respond(
  exchange: Exchange,
  headers: readonly (readonly [string, string])[],
  body: string,
  status = 200,
): void {
  exchange.respond({ status, headers });
  exchange.body.end(body);
}

/** A connection like that of a gateway, which serves one request after another. */
function open(): Connection {
  const { port } = new URL(scene.tunnelUrl);
  const socket = connect(Number(port), '127.0.0.1');
  let received = '';
  socket.on('data', (bytes) => (received += bytes.toString('latin1')));
  socket.on('error', () => undefined);
  const head = [
    `GET /internal/agents/${agentId}/m/v1/answer HTTP/1.1`,
    'host: tunnel',
    `authorization: Bearer ${scene.test.context.agentTunnelKey}`,
  ];
  return {
    socket,
    ask: () => void socket.write(`${head.join('\r\n')}\r\n\r\n`),
    text: () => received,
  };
}

test('responses that end where the node said share a connection', async () => {
  answer = (exchange) => respond(exchange, [['Content-Length', '2']], 'ok');
  const { socket, ask, text } = open();
  for (const count of [1, 2]) {
    ask();
    await waitUntil(() => text().split('\r\n\r\nok').length === count + 1);
  }
  expect(text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  socket.destroy();
});

test.each([
  { why: 'a body that is longer', headers: [['content-length', '2']], body: `ok${SMUGGLED}` },
  {
    why: 'another encoding',
    headers: [['transfer-encoding', 'identity']],
    body: SMUGGLED,
  },
  {
    why: 'two lengths',
    headers: [
      ['content-length', '2'],
      ['Content-Length', '0'],
    ],
    body: `ok${SMUGGLED}`,
  },
  { why: 'a status that a response follows', headers: [], body: SMUGGLED, status: 101 },
] as const)('a node cannot add a response of its own by $why', async (row) => {
  answer = (exchange) =>
    respond(exchange, row.headers, row.body, 'status' in row ? row.status : undefined);
  const { socket, ask, text } = open();
  ask();
  await waitUntil(() => socket.closed || text().includes('299') || text().includes(' 502 '));
  expect(text()).not.toMatch(/\r\n\r\n(ok)?HTTP\/1\.1 299/);
  expect(text()).not.toContain('HTTP/1.1 101');
  socket.destroy();
});

test('a response that ends too early breaks off', async () => {
  answer = (exchange) => respond(exchange, [['content-length', '10']], 'ok');
  const { socket, ask } = open();
  ask();
  await once(socket, 'close');
});

test('a response without a valid head is refused with a sentence', async () => {
  answer = (exchange) => exchange.respond({ status: '200' });
  const { socket, ask, text } = open();
  ask();
  await waitUntil(() => text().includes('\r\n\r\n{'));
  expect(text()).toMatch(/^HTTP\/1\.1 502 .*"message":"the agent sent a head that is not valid"/s);
  socket.destroy();
});

test('a response that ends without a head is refused at once', async () => {
  answer = ({ body }) => body.end();
  const { socket, ask, text } = open();
  ask();
  await waitUntil(() => text().includes('\r\n\r\n{'));
  expect(text()).toMatch(/^HTTP\/1\.1 502 .*"message":"the exchange ended without a response"/s);
  socket.destroy();
});
