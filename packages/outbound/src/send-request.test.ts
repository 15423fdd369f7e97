import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createResolveReceiver,
  RefusedReceiver,
  type Address,
  type ResolveName,
} from './resolve-receiver.ts';
import { createSendRequest } from './send-request.ts';

const LOOPBACK: Address = { address: '127.0.0.1', family: 4 };
const PUBLIC: Address = { address: '93.184.215.14', family: 4 };

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

let answer: Answering;
let paths: string[];
let hosts: (string | undefined)[];
let port: number;
const server = createServer((request, response) => {
  paths.push(request.url ?? '');
  hosts.push(request.headers.host);
  request.resume().once('end', () => answer(request, response));
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  paths = [];
  hosts = [];
  answer = (_request, response) => response.end('ok');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Sending {
  readonly host?: string;
  readonly allowPrivate?: boolean;
  readonly resolveName?: ResolveName;
  readonly timeoutMs?: number;
}

function send({ host = 'receiver.test', allowPrivate = true, ...rest }: Sending = {}) {
  const { resolveName = async () => [LOOPBACK], timeoutMs } = rest;
  const resolve = createResolveReceiver({ allowPrivate, resolveName });
  const request = createSendRequest({ resolve, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  return request({
    url: `http://${host}:${port}/hook`,
    headers: { 'webhook-id': 'evt_1' },
    body: '{"a":1}',
  });
}

test('a request goes to the resolved address, with the name of the URL', async () => {
  let resolved = 0;
  const resolveName = async () => {
    resolved += 1;
    return [LOOPBACK];
  };
  expect(await send({ resolveName })).toEqual({ status: 200 });
  expect(resolved).toBe(1);
  expect(hosts).toEqual([`receiver.test:${port}`]);
});

test.each([
  { why: 'loopback', host: '127.0.0.1' },
  { why: 'loopback as a number', host: '2130706433' },
  { why: 'loopback in hex', host: '0x7f.1' },
  { why: 'IPv4 in IPv6', host: '[::ffff:127.0.0.1]' },
  { why: 'a metadata address', host: '169.254.169.254' },
  { why: 'a name with a private address', host: 'receiver.test' },
])('$why is refused without a connection', async ({ host }) => {
  const refused = await send({ host, allowPrivate: false });
  expect(refused).toEqual({ error: expect.stringContaining('private address') });
  expect(paths).toEqual([]);
});

test('a name that changes its address between two requests is checked again', async () => {
  const answers = [[PUBLIC], [LOOPBACK]];
  const resolveName = async () => answers.shift() ?? [];
  const resolve = createResolveReceiver({ allowPrivate: false, resolveName });
  // The check when a webhook is created.
  const url = `http://receiver.test:${port}/hook`;
  expect(await resolve(new URL(url))).toEqual([PUBLIC]);
  const answered = await createSendRequest({ resolve })({ url, headers: {}, body: '' });
  expect(answered).toEqual({ error: expect.stringContaining('private address') });
  expect(paths).toEqual([]);
});

test('of several addresses only the public ones are used', async () => {
  const resolve = createResolveReceiver({
    allowPrivate: false,
    resolveName: async () => [LOOPBACK, PUBLIC],
  });
  expect(await resolve(new URL('http://receiver.test'))).toEqual([PUBLIC]);
});

test('a name without an address is refused', async () => {
  const resolve = createResolveReceiver({ allowPrivate: true, resolveName: async () => [] });
  await expect(resolve(new URL('http://receiver.test'))).rejects.toThrow(RefusedReceiver);
});

test('a redirect is not followed', async () => {
  answer = (_request, response) => response.writeHead(302, { location: '/private' }).end();
  expect(await send()).toEqual({ status: 302 });
  expect(paths).toEqual(['/hook']);
});

test('an endless answer is cut, and its status counts', async () => {
  const cut = new Promise<void>((resolve) => {
    answer = (_request, response) => {
      response.once('close', resolve);
      const fill = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', fill);
      fill();
    };
  });
  expect(await send()).toEqual({ status: 200 });
  await cut;
});

test('endless headers are an error', async () => {
  answer = (request) => {
    const { socket } = request;
    socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`);
  };
  expect(await send()).toEqual({ error: expect.stringContaining('cannot be reached') });
});

test('a receiver that never answers is given up', async () => {
  answer = () => undefined;
  expect(await send({ timeoutMs: 50 })).toEqual({
    error: 'the receiver did not answer within 50 ms',
  });
});

test('a name server that never answers is given up', async () => {
  const resolveName = () => new Promise<never>(() => undefined);
  expect(await send({ resolveName, timeoutMs: 50 })).toEqual({
    error: 'the receiver did not answer within 50 ms',
  });
});

test('an answer that stops after its status is given up, and its status counts', async () => {
  answer = (_request, response) => {
    response.writeHead(204).flushHeaders();
  };
  expect(await send()).toEqual({ status: 204 });
  answer = (_request, response) => {
    response.writeHead(200).write('x');
  };
  // Generous: the status must arrive in this time on a busy machine.
  expect(await send({ timeoutMs: 3_000 })).toEqual({ status: 200 });
});

test('a receiver that is not there is an error', async () => {
  const resolve = createResolveReceiver({
    allowPrivate: true,
    resolveName: async () => [LOOPBACK],
  });
  const answered = await createSendRequest({ resolve })({
    url: 'http://receiver.test:1/',
    headers: {},
    body: '',
  });
  expect(answered).toEqual({ error: expect.stringContaining('ECONNREFUSED') });
});
