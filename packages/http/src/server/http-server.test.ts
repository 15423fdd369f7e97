import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { createMetrics, silentLog, StartupError } from '@model-gateway/kernel';
import { listen, type HttpServer } from './http-server.ts';
import { endsWithEvent } from '../responses/break-off.ts';
import { sendText } from '../responses/rest-errors.ts';

const opened: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.drain()));
});

/** The test would be over before. */
const NEVER_MS = 3_600_000;

async function serve(
  app: Omit<Parameters<typeof listen>[0]['app'], 'routes'>,
  drainTimeoutMs = 5_000,
): Promise<HttpServer> {
  const server = await listen({
    app: { routes: [], ...app },
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    metrics: createMetrics(),
    drainTimeoutMs,
  });
  opened.push(server);
  return server;
}

test('a port that is in use is reported in one sentence', async () => {
  const { port } = await serve({ handle: () => undefined });
  const second = listen({
    app: { routes: [], handle: () => undefined },
    host: '127.0.0.1',
    port,
    log: silentLog,
    metrics: createMetrics(),
  });
  await expect(second).rejects.toThrow(StartupError);
  await expect(second).rejects.toThrow(
    `port ${port} on 127.0.0.1 is already in use; stop the process that uses it or set SERVICE_PORT to another port`,
  );
});

test('an address of another machine is reported in one sentence', async () => {
  const elsewhere = listen({
    app: { routes: [], handle: () => undefined },
    host: '192.0.2.1',
    port: 0,
    log: silentLog,
    metrics: createMetrics(),
  });
  await expect(elsewhere).rejects.toThrow('192.0.2.1 is not an address of this machine');
});

test.each([
  ['/v1/models/?a=/', '/v1/models?a=/'],
  ['http://gateway.example:8080/v1/models', '/v1/models'],
  ['HTTPS://gateway.example?a=b', '/?a=b'],
])('what %s asks for is %s', async (asked, target) => {
  const { port } = await serve({
    handle: (request, response) => sendText(response, 200, request.url ?? ''),
  });
  const socket = connect(port, '127.0.0.1');
  socket.end(`GET ${asked} HTTP/1.1\r\nhost: gateway.example\r\nconnection: close\r\n\r\n`);
  const answer = (await buffer(socket)).toString();
  expect(answer.split('\r\n').at(-1)).toBe(target);
});

test('draining waits for the requests in flight and still serves new ones meanwhile', async () => {
  let finish = (): void => undefined;
  let begun = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const server = await serve({
    handle: (request, response) => {
      if (request.url !== '/slow') {
        sendText(response, 200, 'quick');
        return;
      }
      begun();
      finish = () => sendText(response, 200, 'slow');
    },
  });
  const base = `http://127.0.0.1:${server.port}`;
  const slow = fetch(`${base}/slow`);
  await started;
  const drained = server.drain();
  const meanwhile = await fetch(base);
  expect(await meanwhile.text()).toBe('quick');
  expect(meanwhile.headers.get('connection')).toBe('close');
  finish();
  expect(await (await slow).text()).toBe('slow');
  await drained;
  await expect(fetch(base)).rejects.toThrow();
});

test('during the drain delay new requests are still served', async () => {
  const server = await listen({
    app: { routes: [], handle: (_request, response) => sendText(response, 200, 'served') },
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    metrics: createMetrics(),
    drainDelaySecs: 3,
  });
  const since = performance.now();
  let isDrained = false;
  const drained = server.drain().then(() => (isDrained = true));
  const late = await fetch(`http://127.0.0.1:${server.port}`);
  expect(await late.text()).toBe('served');
  expect(late.headers.get('connection')).toBe('close');
  expect(isDrained).toBe(false);
  await drained;
  // Timers may be a millisecond early.
  expect(performance.now() - since).toBeGreaterThan(2_990);
});

test('draining cuts off requests that take too long', async () => {
  const server = await serve({ handle: () => undefined }, 50);
  const stuck = fetch(`http://127.0.0.1:${server.port}`).catch(() => 'cut');
  const drained = server.drain();
  await drained;
  expect(await stuck).toBe('cut');
});

test('a stream that the drain cuts off ends with its last event, and not like a whole one', async () => {
  const server = await serve(
    {
      handle(_request, response) {
        endsWithEvent(response, (failure) => `data: ${String(failure)}\n\n`);
        response.write('data: one\n\n');
      },
    },
    50,
  );
  const response = await fetch(`http://127.0.0.1:${server.port}`);
  const drained = server.drain();
  let text = '';
  const decoder = new TextDecoder();
  const reading = (async () => {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes);
  })();
  await expect(reading).rejects.toThrow('terminated');
  expect(text).toMatch(/^data: one\n\ndata: .*the service is stopping.*\n\n$/);
  await drained;
});

test('a request that is arriving while the drain ends is answered', async () => {
  const server = await serve({ handle: (_request, response) => sendText(response, 200, 'served') });
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\nGET /late HTTP/1.1\r\n');
  // The first answer shows that the beginning of the second request has been read.
  let received = String((await once(socket, 'data'))[0]);
  expect(received).not.toContain('connection: close');
  const drained = server.drain();
  socket.write('host: localhost\r\n\r\n');
  for await (const part of socket) received += String(part);
  expect(received.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  expect(received).toContain('connection: close');
  await drained;
});

test('draining ends also while new requests keep coming, and cuts none of them', async () => {
  const waiting = new Map<string, () => void>();
  const begun = new Map<string, () => void>();
  const server = await serve(
    {
      handle: ({ url = '' }, response) => {
        waiting.set(url, () => sendText(response, 200, 'served'));
        begun.get(url)?.();
      },
    },
    1_200,
  );
  const send = async (path: string): Promise<{ isAccepted: boolean; answer: Promise<string> }> => {
    const started = new Promise<boolean>((resolve) => {
      begun.set(path, () => resolve(true));
    });
    const answer = fetch(`http://127.0.0.1:${server.port}${path}`).then(
      (response) => response.text(),
      (error: Error) => String(error.cause),
    );
    return { isAccepted: await Promise.race([started, answer.then(() => false)]), answer };
  };
  let previous = await send('/0');
  const drained = server.drain();
  const answers: string[] = [];
  // There is always a request in flight, until a connection is refused.
  for (let number = 1; previous.isAccepted; number += 1) {
    const next = await send(`/${number}`);
    waiting.get(`/${number - 1}`)?.();
    answers.push(await previous.answer);
    previous = next;
  }
  expect(answers).toEqual(answers.map(() => 'served'));
  // A connection that was not accepted yet is reset when the server stops listening.
  expect(await previous.answer).toMatch(/ECONNREFUSED|ECONNRESET/);
  await drained;
});

test('a connection on which nothing has come does not delay the end', async () => {
  const server = await serve(
    { handle: (_request, response) => sendText(response, 200, 'ok') },
    NEVER_MS,
  );
  const silent = connect(server.port, '127.0.0.1');
  await once(silent, 'connect');
  // Its connection is accepted after the other one.
  await fetch(`http://127.0.0.1:${server.port}/`);
  const closed = once(silent, 'close');
  await server.drain();
  await closed;
});

test('an app without WebSockets refuses an upgrade', async () => {
  const server = await serve({ handle: () => undefined });
  const upgrade = httpRequest({
    port: server.port,
    host: '127.0.0.1',
    headers: { connection: 'Upgrade', upgrade: 'websocket' },
  });
  upgrade.end();
  const [response] = await once(upgrade, 'response');
  expect(response).toMatchObject({ statusCode: 404 });
});

/** The headers with which the HTTP client of Java offers HTTP/2. */
const OFFER =
  'connection: Upgrade, HTTP2-Settings\r\nhttp2-settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nupgrade: h2c\r\n';

/** Sends the pieces of one request and returns the last line of the response. */
async function ask(socket: Socket, ...pieces: readonly string[]): Promise<string | undefined> {
  for (const piece of pieces) {
    socket.write(piece);
    // The pieces arrive one by one.
    await setImmediate();
  }
  for (let received = ''; ; received += String(socket.read() ?? '')) {
    if (/\d end$/.test(received)) return received.split('\r\n').at(-1);
    await once(socket, 'readable');
  }
}

test.each([
  ['an app without WebSockets', undefined],
  ['an app with WebSockets', (_request: unknown, socket: Duplex) => void socket.destroy()],
])('%s serves requests that offer another protocol', async (_app, upgrade) => {
  const server = await serve({
    handle: (request, response) =>
      void buffer(request).then(({ length }) => {
        const { connection } = request.headers;
        sendText(response, 200, `${request.method} ${request.url} ${connection} ${length} end`);
      }),
    ...(upgrade && { upgrade }),
  });
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  const body = 'x'.repeat(200_000);
  const long = `host: a\r\n${OFFER}content-length: ${body.length}\r\n\r\n`;
  const chunked = `host: a\r\n${OFFER}transfer-encoding: chunked\r\n\r\n`;
  const answers = [
    await ask(socket, `POST /a/ HTTP/1.1\r\n${long}`, body),
    await ask(socket, `POST /b HTTP/1.1\r\n${chunked}4\r\nbo`, 'dy\r\n0\r\n\r\n'),
    await ask(socket, `GET /c?d HTTP/1.1\r\nhost: a\r\n${OFFER}\r\n`),
    await ask(socket, 'GET /e HTTP/1.1\r\nhost: a\r\n\r\n'),
  ];
  socket.destroy();
  expect(answers).toEqual([
    'POST /a undefined 200000 end',
    'POST /b undefined 4 end',
    'GET /c?d undefined 0 end',
    'GET /e undefined 0 end',
  ]);
});

test('an offer of another protocol does not mix the answers of one connection', async () => {
  const server = await serve({ handle: () => undefined });
  const socket = connect(server.port, '127.0.0.1');
  socket.write(`GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n${OFFER}\r\n`);
  await once(socket, 'close');
  expect(socket.bytesRead).toBe(0);
});
