import { once } from 'node:events';
import { connect } from 'node:net';
import { createMetrics, type Log, type RequestLine, silentLog } from '@model-gateway/kernel';
import { type HttpServer, listen } from './http-server.ts';
import { sendText } from '../responses/rest-errors.ts';
import { createRouteNames } from './request-observer.ts';
import type { ServerApp } from './server-app.ts';

const opened: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.drain()));
});

/** An observed server and the log lines of its requests. */
async function serve(handle: ServerApp['handle']) {
  const metrics = createMetrics();
  const lines: RequestLine[] = [];
  let wake = (): void => undefined;
  const log: Log = {
    ...silentLog,
    request(line) {
      lines.push(line);
      wake();
    },
  };
  const server = await listen({
    app: { routes: ['/a', '/b/{id}'], handle },
    host: '127.0.0.1',
    port: 0,
    log,
    metrics,
  });
  opened.push(server);
  return {
    port: server.port,
    base: `http://127.0.0.1:${server.port}`,
    metrics,
    /** The lines, once there are `count` of them. */
    logged: async (count: number): Promise<readonly RequestLine[]> => {
      while (lines.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return lines;
    },
  };
}

test('a path is named by its route, by everything below it, or not at all', () => {
  const nameOf = createRouteNames(['/a', '/b/{id}'], ['/healthz']);
  const names = ['/a', '/a/', '/b/1', '/b/1/2', '/b', '/healthz', '/__proto__', ''].map(
    (path) => nameOf(path).name,
  );
  expect(names).toEqual([
    '/a',
    'other',
    '/b/{id}',
    '/b/{id}',
    'other',
    '/healthz',
    'other',
    'other',
  ]);
  expect(nameOf('/healthz').isProbe).toBe(true);
});

test('requests are counted by route, method and class of status', async () => {
  const { base, metrics, logged } = await serve((request, response) =>
    sendText(response, request.url === '/a' ? 201 : 404, 'x'),
  );
  await fetch(`${base}/a`);
  await fetch(`${base}/b/1?token=secret`, { method: 'PUT' });
  await fetch(`${base}/b/2`, { method: 'PUT' });
  await fetch(`${base}/c`, { method: 'PROPFIND' });
  await logged(4);
  const text = await metrics.expose();
  expect(text).toContain('service_http_requests_total{route="/a",method="GET",status="2xx"} 1\n');
  expect(text).toContain(
    'service_http_requests_total{route="/b/{id}",method="PUT",status="4xx"} 2\n',
  );
  expect(text).toContain(
    'service_http_requests_total{route="other",method="other",status="4xx"} 1\n',
  );
  expect(text).toContain('service_http_request_duration_seconds_count{route="/b/{id}"} 2\n');
  expect(text).not.toContain('secret');
});

test('a request counts as in flight until its response ends, and is logged then', async () => {
  let finish = (): void => undefined;
  const { base, metrics, logged } = await serve((_request, reply) => {
    finish = () => void reply.end('x');
    reply.writeHead(200).flushHeaders();
  });
  const response = await fetch(`${base}/a`, { headers: { 'x-request-id': 'mine' } });
  expect(await metrics.expose()).toContain('service_http_requests_in_flight 1\n');
  finish();
  expect(await response.text()).toBe('x');
  const [line] = await logged(1);
  expect(line).toMatchObject({ requestId: 'mine', method: 'GET', route: '/a', status: 200 });
  expect(line?.isProbe).toBe(false);
  expect(await metrics.expose()).toContain('service_http_requests_in_flight 0\n');
});

test('a client that disconnects before a response begins is counted as gone', async () => {
  const arrived: (() => void)[] = [];
  const { port, metrics, logged } = await serve(() =>
    arrived.splice(0).forEach((resolve) => resolve()),
  );
  const received = new Promise<void>((resolve) => {
    arrived.push(resolve);
  });
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
  await received;
  socket.destroy();
  expect(await logged(1)).toMatchObject([{ status: 0 }]);
  expect(await metrics.expose()).toContain(
    'service_http_requests_total{route="/a",method="POST",status="gone"} 1\n',
  );
});
