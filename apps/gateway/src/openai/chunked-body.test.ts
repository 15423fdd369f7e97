import { once } from 'node:events';
import { Agent, createServer, request, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { takeOverChunks } from './chunked-body.ts';

const PIECES = [
  'data: hello\n\n',
  'data: größer 日本 🙂\n\n',
  '',
  `data: ${'ä'.repeat(40_000)}\n\n`,
  'data: x\n\n',
];
const LAST = 'data: ënd\n\n';

let server: Server;

beforeEach(async () => {
  server = createServer((_request, response) => void answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

async function answer(response: ServerResponse): Promise<void> {
  response.writeHead(200, ['content-type', 'text/event-stream']);
  const body = takeOverChunks(response);
  for (const piece of PIECES) {
    if (!body.write(Buffer.from(piece))) await once(response, 'drain');
  }
  body.end(LAST);
}

function port(): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** What the server says on a connection of its own until it closes it. */
async function exchange(asked: string): Promise<string> {
  const socket = connect(port(), '127.0.0.1');
  socket.end(asked);
  return text(socket);
}

test('a client reads what was written, again and again on one connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<unknown>();
  server.on('connection', (socket) => sockets.add(socket));
  for (let round = 0; round < 3; round += 1) {
    const asked = request({ port: port(), agent }).end();
    const [response] = await once(asked, 'response');
    expect(response.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    expect(await text(response)).toBe(PIECES.join('') + LAST);
  }
  agent.destroy();
  expect(sockets.size).toBe(1);
});

test('each piece is a chunk of as many bytes as it says, and an empty one ends nothing', async () => {
  const answered = await exchange('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  const [, body = ''] = answered.split(/\r\n\r\n(.*)/s);
  const chunks = [...PIECES, LAST]
    .filter((piece) => piece !== '')
    .map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`);
  expect(body).toBe(`${chunks.join('')}0\r\n\r\n`);
});

test('a client that knows no chunks gets the bytes alone', async () => {
  const answered = await exchange('GET / HTTP/1.0\r\n\r\n');
  const [, body = ''] = answered.split(/\r\n\r\n(.*)/s);
  expect(answered.toLowerCase()).not.toContain('chunked');
  expect(body).toBe(PIECES.join('') + LAST);
});
