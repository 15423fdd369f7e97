import {
  startChatUpstream,
  startCloudVideo,
  startEngine,
  type RunningChatUpstream,
  type RunningCloudVideo,
  type RunningEngine,
} from '@model-gateway/testkit/upstreams';
import { waitUntil } from '@model-gateway/testkit';
import { startCollector, type CollectedSpan, type Collector } from './collector.ts';
import { chatBody, SECRETS, startInstallation, type Installation } from './installation.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CLIENT_SPAN_ID = 'b7ad6b7169203331';
const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;

let collector: Collector;
let chat: RunningChatUpstream;
let engine: RunningEngine;
let video: RunningCloudVideo;
let installation: Installation;

/** Sends each kind of request once; a process sends its remaining spans when it stops. */
beforeAll(async () => {
  const apiKey = SECRETS.upstreamKey;
  collector = await startCollector();
  chat = await startChatUpstream({ apiKey });
  engine = await startEngine({ models: ['robot'] });
  video = await startCloudVideo({ apiKey, steps: ['Success'] });
  installation = await startInstallation({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    SERVICE_VIDEO_POLL_MS: '50',
  });
  await installation.register('up', `${chat.url}/v1`);
  await installation.register('eng', engine.url, { type: 'engine', api_key: null });
  await installation.register('cloud', video.url, { type: 'cloud-video', models: ['v-1'] });
  await sendAllRequests();
  await installation.stop();
});

afterAll(async () => {
  await installation.remove();
  await Promise.all([collector.close(), chat.close(), engine.close(), video.close()]);
});

async function sendAllRequests(): Promise<void> {
  const traceparent = `00-${TRACE_ID}-${CLIENT_SPAN_ID}-01`;
  const whole = await installation.post('/v1/chat/completions', chatBody('demo-chat'), {
    traceparent,
  });
  await whole.text();
  const streamed = chatBody('demo-chat', { stream: true });
  await (await installation.post('/v1/chat/completions', streamed)).text();
  await installation.post('/v1/embeddings', { model: 'demo-embed', input: SECRETS.prompt });
  chat.faults.next({ kind: 'status', status: 503 }, 1, 'chat');
  await installation.post('/v1/chat/completions', chatBody('demo-chat'));
  await installation.call('chat.send', chatBody('demo-chat'));
  await waitUntil(() => chat.served.length === 4, { what: 'four answers' });
  await waitUntil(
    () => installation.call('engine.invoke', { model: 'robot', method: 'look' }).then(() => true),
    {
      what: 'the engine',
    },
  );
  const { id } = (await (
    await installation.post('/v1/video/generations', { model: 'v-1', prompt: SECRETS.prompt })
  ).json()) as { id: string };
  await waitUntil(
    async () => {
      const job = (await installation.call('video.get', { job_id: id })) as { status: string };
      return job.status === 'done';
    },
    { what: 'the video' },
  );
}

/** The spans of one app with one name. */
const spansOf = (app: string, name: string): readonly CollectedSpan[] =>
  collector.spans.filter((span) => span.service === `model-gateway-${app}` && span.name === name);

function only(app: string, name: string): CollectedSpan {
  const found = spansOf(app, name);
  expect({ name, count: found.length }).toEqual({ name, count: 1 });
  const [span] = found;
  if (span === undefined) throw new Error(`no span ${name}`);
  return span;
}

const parentOf = ({ parentSpanId }: CollectedSpan): CollectedSpan | undefined =>
  collector.spans.find(({ spanId }) => spanId === parentSpanId);

/** The chat calls of an app, each with the span of its request. */
const chatCalls = (app: string) =>
  spansOf(app, 'chat demo-chat').map((span) => ({ span, parent: parentOf(span) }));

test('the trace of a client continues through the gateway to the upstream', () => {
  const all = collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
  expect(all).toHaveLength(2);
  const [request, call] = all.toSorted((left, right) => left.kind - right.kind);
  expect(request).toMatchObject({
    name: 'POST /v1/chat/completions',
    kind: SERVER,
    parentSpanId: CLIENT_SPAN_ID,
    hasFailed: false,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
    },
  });
  expect(call).toMatchObject({ kind: CLIENT, parentSpanId: request?.spanId });
  const passedOn = `00-${TRACE_ID}-${call?.spanId}-01`;
  expect(chat.requests.some(({ headers }) => headers['traceparent'] === passedOn)).toBe(true);
});

test('calls to backends use the attribute names for generative AI', () => {
  const good = chatCalls('gateway').filter(({ span }) => !span.hasFailed);
  expect(good).toHaveLength(2);
  for (const { span, parent } of good) {
    expect(parent?.name).toBe('POST /v1/chat/completions');
    expect(span).toMatchObject({
      kind: CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'up',
        'gen_ai.request.model': 'demo-chat',
        'gen_ai.response.model': 'demo-chat',
        'gen_ai.response.finish_reasons': ['stop'],
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(chat.url).port),
      },
    });
    const served = chat.served.find(
      ({ completionTokens }) => completionTokens === span.attributes['gen_ai.usage.output_tokens'],
    );
    expect(span.attributes['gen_ai.usage.input_tokens']).toBe(served?.promptTokens);
  }
});

test('registering a backend is not traced as a call, and only calls have a server address', () => {
  expect(spansOf('gateway', 'POST /api/admin/backends')).toHaveLength(3);
  const placed = collector.spans.filter(({ attributes }) => 'server.address' in attributes);
  expect(new Set(placed.map(({ kind }) => kind))).toEqual(new Set([CLIENT]));
});

test('embeddings are calls too', () => {
  const call = only('gateway', 'embeddings demo-embed');
  expect(call.kind).toBe(CLIENT);
  expect(call.attributes).toMatchObject({
    'gen_ai.operation.name': 'embeddings',
    'gen_ai.request.model': 'demo-embed',
  });
  expect(parentOf(call)?.name).toBe('POST /v1/embeddings');
});

test('a failure of an upstream is described only by its status', () => {
  const [failed, ...others] = chatCalls('gateway').filter(({ span }) => span.hasFailed);
  expect(others).toEqual([]);
  expect(failed?.span.attributes).toMatchObject({ 'error.type': '503' });
  expect(failed?.parent).toMatchObject({
    hasFailed: true,
    attributes: { 'error.type': '502', 'http.response.status_code': 502 },
  });
});

test('a turn of the management plane belongs to the call that started it', () => {
  const [turn, ...others] = chatCalls('rpc');
  expect(others).toEqual([]);
  expect(turn?.parent).toMatchObject({
    name: 'chat.send',
    kind: INTERNAL,
    attributes: { 'rpc.system.name': 'jsonrpc', 'rpc.method': 'chat.send' },
  });
  const call = only('rpc', 'chat.send');
  expect(parentOf(call)?.name).toBe('POST /api/rpc');
  expect(turn?.span.attributes).toMatchObject({ 'gen_ai.response.finish_reasons': ['stop'] });
});

test('a call of an engine belongs to its method', () => {
  const good = spansOf('rpc', 'invoke robot').filter(({ hasFailed }) => !hasFailed);
  expect(good).toHaveLength(1);
  expect(good.map((span) => parentOf(span)?.name)).toEqual(['engine.invoke']);
});

test('each step of a video job is a separate trace', () => {
  const submitted = only('video-worker', 'video v-1');
  expect(submitted.attributes).toMatchObject({ 'gen_ai.provider.name': 'cloud' });
  expect(parentOf(submitted)).toMatchObject({
    name: 'video step',
    kind: INTERNAL,
    parentSpanId: '',
  });
  const polled = spansOf('video-worker', 'video').map((span) => parentOf(span)?.name);
  expect(polled).toContain('video step');
});

test('probes are not traced, and traces contain no secrets', () => {
  expect(collector.spans.filter(({ name }) => /healthz|readyz|metrics/.test(name))).toEqual([]);
  const secrets = [...Object.values(SECRETS), installation.key, installation.token];
  expect(secrets.filter((secret) => collector.text.includes(secret))).toEqual([]);
});
