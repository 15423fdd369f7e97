import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createMetrics, silentLog } from '@model-gateway/kernel';
import { listen, type HttpServer } from '../server/http-server.ts';
import type { OriginRules } from './origins.ts';
import { sendText } from '../responses/rest-errors.ts';

const opened: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.drain()));
});

const handled: string[] = [];
beforeEach(() => {
  handled.length = 0;
});

async function serve(host: string, origins: Partial<OriginRules> = {}): Promise<HttpServer> {
  const rules = { corsOrigins: [], publicUrl: undefined, trustProxy: 'loopback', ...origins };
  const server = await listen({
    app: {
      routes: ['/'],
      origins: rules,
      handle(request, response) {
        handled.push(request.method ?? '');
        sendText(response, 200, 'served');
      },
      upgrade(_request, socket) {
        handled.push('upgrade');
        socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
      },
    },
    host,
    port: 0,
    log: silentLog,
    metrics: createMetrics(),
  });
  opened.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends a request whose headers stay as they are; PORT in them stands for the port. */
async function send(
  { port }: HttpServer,
  headers: Readonly<Record<string, string>>,
  method = 'POST',
): Promise<Answer> {
  const filled = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', String(port))]),
  );
  const request = httpRequest({ host: '127.0.0.1', port, method, headers: filled });
  request.end();
  const answered = new Promise<Answer>((resolve, reject) => {
    request.once('error', reject);
    request.once('upgrade', (response: IncomingMessage, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, body: '' });
    });
    request.once('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
  });
  return answered;
}

const REFUSED = {
  error: {
    message: 'web pages of this origin may not call; add it to SERVICE_CORS_ORIGINS',
    type: 'auth_error',
    code: 'origin_not_allowed',
    param: null,
  },
};

type Headers = Readonly<Record<string, string>>;
interface Example {
  readonly why: string;
  readonly host: string;
  readonly rules?: Partial<OriginRules>;
  readonly headers: Headers;
}

const ALLOWED: readonly Example[] = [
  { why: 'no origin', host: '127.0.0.1', headers: {} },
  { why: 'no origin, a foreign host', host: '127.0.0.1', headers: { host: 'evil.example' } },
  { why: 'its own page', host: '127.0.0.1', headers: { origin: 'http://127.0.0.1:PORT' } },
  { why: 'a page on localhost', host: '127.0.0.1', headers: { origin: 'http://localhost:5173' } },
  { why: 'a page on ::1', host: '127.0.0.1', headers: { origin: 'http://[::1]:3000' } },
  {
    why: 'a configured origin',
    host: '127.0.0.1',
    rules: { corsOrigins: ['https://app.example.com'] },
    headers: { origin: 'https://app.example.com' },
  },
  {
    why: 'any origin',
    host: '127.0.0.1',
    rules: { corsOrigins: ['*'] },
    headers: { origin: 'null' },
  },
  {
    why: 'the public URL',
    host: '127.0.0.1',
    rules: { publicUrl: 'https://gateway.example.com/base' },
    headers: { origin: 'https://gateway.example.com' },
  },
  {
    why: 'its own page on a network',
    host: '0.0.0.0',
    headers: { host: 'box.lan:8080', origin: 'http://box.lan:8080' },
  },
  {
    why: 'its own page behind TLS',
    host: '0.0.0.0',
    headers: { host: 'gateway.example.com:443', origin: 'https://gateway.example.com' },
  },
  {
    why: 'the host that a trusted proxy reports',
    host: '0.0.0.0',
    headers: {
      host: 'inner:8080',
      'x-forwarded-host': 'gateway.example.com',
      origin: 'https://gateway.example.com',
    },
  },
];

const NOT_ALLOWED: readonly Example[] = [
  { why: 'a foreign page', host: '127.0.0.1', headers: { origin: 'https://evil.example' } },
  { why: 'a page without an origin', host: '127.0.0.1', headers: { origin: 'null' } },
  {
    why: 'a page whose name has the address of loopback',
    host: '127.0.0.1',
    headers: { host: 'evil.example:PORT', origin: 'http://evil.example:PORT' },
  },
  {
    why: 'a page whose name begins like loopback',
    host: '127.0.0.1',
    headers: { origin: 'http://127.0.0.1.evil.example' },
  },
  {
    why: 'an origin with more than an origin',
    host: '127.0.0.1',
    headers: { origin: 'http://localhost/path' },
  },
  {
    why: 'a reported host on loopback',
    host: '127.0.0.1',
    headers: { 'x-forwarded-host': 'evil.example', origin: 'http://evil.example' },
  },
  {
    why: 'a foreign page on a network',
    host: '0.0.0.0',
    headers: { host: 'box.lan:8080', origin: 'http://evil.example' },
  },
  {
    why: 'another port of the same host on a network',
    host: '0.0.0.0',
    headers: { host: 'box.lan:8080', origin: 'http://box.lan:9090' },
  },
  {
    why: 'a page on loopback of a service on a network',
    host: '0.0.0.0',
    headers: { host: 'box.lan:8080', origin: 'http://localhost:5173' },
  },
  {
    why: 'a host that no trusted proxy reports',
    host: '0.0.0.0',
    rules: { trustProxy: 'false' },
    headers: { host: 'box.lan', 'x-forwarded-host': 'evil.example', origin: 'http://evil.example' },
  },
];

const UPGRADE = { connection: 'upgrade', upgrade: 'websocket' };

test.each(ALLOWED)('is served on $host: $why', async ({ host, rules, headers }) => {
  const server = await serve(host, rules);
  expect(await send(server, headers)).toEqual({ status: 200, body: 'served' });
  expect((await send(server, { ...headers, ...UPGRADE }, 'GET')).status).toBe(101);
  expect(handled).toEqual(['POST', 'upgrade']);
});

test.each(NOT_ALLOWED)('is refused on $host: $why', async ({ host, rules, headers }) => {
  const server = await serve(host, rules);
  for (const method of ['POST', 'GET', 'OPTIONS']) {
    const { status, body } = await send(server, headers, method);
    expect(status).toBe(403);
    expect(JSON.parse(body)).toEqual(REFUSED);
  }
  const { status, body } = await send(server, { ...headers, ...UPGRADE }, 'GET');
  expect(status).toBe(403);
  expect(JSON.parse(body)).toEqual(REFUSED);
  expect(handled).toEqual([]);
});
