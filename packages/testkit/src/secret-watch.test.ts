import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

const KEY = 'service-0123456789abcdef';

/** The watch of this worker sees the clients of this file; what it holds is taken here, so that this file does not fail. */
const workerWatch = (): WorkerWatch =>
  (globalThis as typeof globalThis & { readonly testSecrets: WorkerWatch }).testSecrets;

interface WorkerWatch {
  takeFindings(): readonly string[];
  secret(kind: string, value: string): void;
  text(source: string, text: string): void;
}

/** A server of the service that quotes the key in its errors. */
async function withQuotingServer(use: (port: number) => Promise<void>): Promise<void> {
  const quoting = JSON.stringify({ error: { message: `no such key: ${KEY}` } });
  const server = createServer((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(quoting);
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.send(quoting));
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  workerWatch().secret('key', KEY);
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    sockets.close();
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  }
}

test('an error that a client of node:http receives is searched', async () => {
  await withQuotingServer(async (port) => {
    const asked = request({ port, path: '/v1/keys?x=1' }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
  });
  expect(workerWatch().takeFindings()).toEqual(['key in 400 of /v1/keys']);
});

test.each([
  { kind: 'x-api-key', headers: { 'x-api-key': KEY } },
  { kind: 'cookie', headers: { cookie: `a=1; service_session=${KEY}` } },
  { kind: 'bearer', headers: { authorization: `Bearer ${KEY}` } },
])('the $kind of a client of node:http is a secret', async ({ kind, headers }) => {
  const served = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((settle) => served.listen(0, '127.0.0.1', settle));
  const asked = request({ port: (served.address() as AddressInfo).port, headers }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  served.close();
  workerWatch().text('a log', `refused ${KEY}`);
  expect(workerWatch().takeFindings()).toEqual([`${kind} in a log`]);
});

test.each([
  { path: '/api/rpc', found: ['key in an error over a WebSocket'] },
  { path: '/engine', found: [] },
])('an error over a WebSocket to $path: $found', async ({ path, found: expected }) => {
  await withQuotingServer(async (port) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}?token=x`);
    await once(socket, 'message');
    socket.terminate();
  });
  expect(workerWatch().takeFindings()).toEqual(expected);
});
