import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLifecycle, silentLog, type Log, type Tracing } from '@model-gateway/kernel';
import { openTracing } from './open-tracing.ts';

const SPANS = 10_000;
const sampling = { tracesSampler: 'parentbased_always_on', tracesRatio: 1 } as const;
const servers: Server[] = [];

// How long the exporter waits for a collector, including retries.
process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '200';

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A collector that never responds. */
async function silentCollector(): Promise<{ readonly url: string; requests(): number }> {
  let requests = 0;
  const server = createServer(() => {
    requests += 1;
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests: () => requests };
}

async function opened(tracesEndpoint: string, log: Log = silentLog) {
  const lifecycle = createLifecycle({ log: silentLog });
  const tracing = await openTracing({ name: 'test', tracesEndpoint, ...sampling }, lifecycle, log);
  if (tracing === undefined) throw new Error('there is no tracing');
  return { tracing, lifecycle };
}

/** Creates many spans. */
function makeSpans(tracing: Tracing): void {
  for (let count = 0; count < SPANS; count += 1) {
    const span = tracing.begin({ name: 'work', kind: 'internal' });
    span.run(() => tracing.begin({ name: 'part', kind: 'client' }).end('timeout'));
    span.end();
  }
}

test('without an endpoint OpenTelemetry is not loaded', async () => {
  const script = `
    import { createRequire } from 'node:module';
    const { openTracing } = await import('./src/index.ts');
    const tracing = await openTracing({ name: 'x', tracesEndpoint: undefined }, {}, {});
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify([tracing ?? null, loaded.filter((file) => /opentelemetry.(sdk|core|exporter|otlp)/.test(file))]));`;
  const run = promisify(execFile);
  const { stdout } = await run(
    process.execPath,
    ['--conditions=model-gateway-source', '--input-type=module', '-e', script],
    {
      cwd: join(import.meta.dirname, '..'),
    },
  );
  expect(JSON.parse(stdout)).toEqual([null, []]);
});

test('a collector that never responds delays neither spans nor a stop', async () => {
  const collector = await silentCollector();
  const { tracing, lifecycle } = await opened(collector.url);
  makeSpans(tracing);
  await lifecycle.stop();
  // Spans that do not fit into the queue are dropped, so there are few requests.
  expect(collector.requests()).toBeLessThan(10);
});

test('an unavailable collector is logged once and does not delay a stop', async () => {
  const { url } = await silentCollector();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void warnings.push(message) };
  const { tracing, lifecycle } = await opened(url, log);
  makeSpans(tracing);
  await lifecycle.stop();
  expect(warnings).toEqual(['sending traces failed']);
});

test('a trace continues from headers and is passed on to calls made in a span', async () => {
  const { url } = await silentCollector();
  const { tracing, lifecycle } = await opened(url);
  expect(tracing.headers()).toEqual({});
  const headers = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'vendor=1',
  };
  const span = tracing.begin({ name: 'work', kind: 'server', headers });
  expect(span.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  const later = span.run(async () => {
    await Promise.resolve();
    return tracing.headers();
  });
  expect(tracing.headers()).toEqual({});
  expect(await later).toEqual({
    traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/),
    tracestate: 'vendor=1',
  });
  span.end();
  await lifecycle.stop();
});

test('annotations are added to the span of a call only', async () => {
  let sent = '';
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    request.on('data', (chunk: Buffer) => (sent += chunk.toString()));
    request.on('end', () => response.writeHead(200).end('{}'));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { tracing, lifecycle } = await opened(`http://127.0.0.1:${port}`);
  const request = tracing.begin({ name: 'request', kind: 'server' });
  request.run(() => {
    tracing.annotate({ of: 'a request' });
    const call = tracing.begin({ name: 'call', kind: 'client' });
    call.run(() => {
      tracing.annotate({ of: 'a call' });
      const part = tracing.begin({ name: 'part', kind: 'internal' });
      part.run(() => tracing.annotate({ of: 'a part' }));
      part.end();
    });
    call.end();
  });
  request.end();
  await lifecycle.stop();
  expect(sent).toContain('a call');
  expect(sent).not.toMatch(/a request|a part/);
});

const two = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test.each([
  ['that is nonsense', 'nonsense'],
  ['of zeros', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
  ['that is sent twice', `${two}, ${two}`],
  ['that is very long', 'x'.repeat(10_000)],
])('a traceparent %s begins a new trace', async (_what, traceparent) => {
  const { url } = await silentCollector();
  const { tracing, lifecycle } = await opened(url);
  const span = tracing.begin({ name: 'work', kind: 'server', headers: { traceparent } });
  expect(span.traceId).toMatch(/^(?!0af765)[0-9a-f]{32}$/);
  span.end();
  await lifecycle.stop();
});
