import { ServiceError } from '@model-gateway/contracts';
import { createMetrics, type Span, type SpanStart, type Tracing } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { createUpstreamTelemetry } from './upstream-telemetry.ts';

const failure = (options: Partial<ConstructorParameters<typeof UpstreamFailure>[1]> = {}) =>
  new UpstreamFailure('what the upstream said', { isBackendAtFault: true, ...options });

/** Tracing that records its calls. */
function notedTracing() {
  const begun: SpanStart[] = [];
  const ended: (string | undefined)[] = [];
  const set: Parameters<Span['set']>[0][] = [];
  const tracing: Tracing = {
    begin(start) {
      begun.push(start);
      return {
        traceId: '1',
        run: (work) => work(),
        set: (attributes) => void set.push(attributes),
        end: (errorType) => void ended.push(errorType),
      };
    },
    annotate: () => undefined,
    headers: () => ({}),
  };
  return { tracing, begun, ended, set };
}

test.each([
  ['rate_limited', '429', failure({ status: 429 })],
  ['refused', '400', failure({ status: 400 })],
  ['server_error', '503', failure({ status: 503 })],
  ['server_error', '200', failure({ status: 200 })],
  ['unreadable', 'unreadable', failure({ wasUnreadable: true })],
  ['timeout', 'timeout', failure({ cause: new Error('Headers Timeout Error') })],
  [
    'timeout',
    'timeout',
    new UpstreamFailure('the upstream took longer than 5 ms', { isBackendAtFault: true }),
  ],
  ['transport', 'transport', failure({ cause: new Error('connect ECONNREFUSED') })],
  ['unsupported', 'unsupported', new ServiceError('unsupported_operation', 'no')],
  ['transport', 'transport', 'something else'],
])('a failure is counted as %s and traced as %s', async (kind, type, thrown) => {
  const metrics = createMetrics();
  const { tracing, ended } = notedTracing();
  createUpstreamTelemetry({ metrics, tracing }).begin('chat', { name: 'up' }, 'm').fail(thrown);
  expect(await metrics.expose()).toContain(
    `service_upstream_errors_total{backend="up",kind="${kind}"} 1\n`,
  );
  expect(ended).toEqual([type]);
});

test('a response that had begun was broken off, and only the first end counts', async () => {
  const metrics = createMetrics();
  const { tracing, ended } = notedTracing();
  const tracked = createUpstreamTelemetry({ metrics, tracing }).begin('chat', { name: 'up' }, 'm');
  tracked.begun();
  tracked.fail(failure({ status: 500 }));
  tracked.end();
  tracked.leave();
  const text = await metrics.expose();
  expect(text).toContain('service_upstream_errors_total{backend="up",kind="broken_off"} 1\n');
  expect(text).toContain('service_time_to_first_token_seconds_count{backend="up"} 1\n');
  expect(text).toContain(
    'service_upstream_duration_seconds_count{backend="up",operation="chat"} 1\n',
  );
  expect(ended).toEqual(['broken_off']);
});

test('a client that leaves is no failure of the backend', async () => {
  const metrics = createMetrics();
  const { tracing, ended } = notedTracing();
  createUpstreamTelemetry({ metrics, tracing }).begin('chat', { name: 'up' }, 'm').leave();
  expect(await metrics.expose()).not.toContain('service_upstream_errors_total{');
  expect(ended).toEqual(['client_gone']);
});

test('a span has what is known of the answer, and nothing else', () => {
  const { tracing, begun, set } = notedTracing();
  const telemetry = createUpstreamTelemetry({ metrics: createMetrics(), tracing });
  telemetry.begin('video', { name: 'up' }, undefined).end();
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  telemetry
    .begin('chat', { name: 'up' }, 'm')
    .end(() => ({ usage, model: 'm-1', finishReasons: ['stop'] }));
  expect(begun.map(({ name, kind }) => `${kind}: ${name}`)).toEqual([
    'client: video',
    'client: chat m',
  ]);
  expect(set).toEqual([
    {
      'gen_ai.response.model': 'm-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 4,
    },
  ]);
});

test('ten thousand backends are a bounded number of series', async () => {
  const metrics = createMetrics();
  const telemetry = createUpstreamTelemetry({ metrics });
  for (let count = 0; count < 10_000; count += 1)
    telemetry.begin('chat', { name: `node-${count}` }, 'm').fail(failure());
  const lines = (await metrics.expose()).split('\n');
  const calls = lines.filter((line) => line.startsWith('service_upstream_requests_total{'));
  expect(calls).toHaveLength(101);
  expect(calls.at(-1)).toBe(
    'service_upstream_requests_total{backend="other",operation="chat"} 9900',
  );
});
