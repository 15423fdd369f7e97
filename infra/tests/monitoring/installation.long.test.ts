import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { fullSize, waitUntil } from '@model-gateway/testkit';
import { bogusModel, bogusPath, sendBogus } from './bogus-requests.ts';
import { chatBody, SECRETS, startInstallation, type Installation } from './installation.ts';
import { selectedBy } from './promql.ts';
import { samplesOf, scrape } from './scrape.ts';
import {
  describedMetrics,
  operationsPage,
  readAlerts,
  readDashboard,
  withoutVariables,
} from './monitoring-files.ts';

const BOGUS = fullSize(10_000, { small: 400 });
const BREAKER_FAILURES = 3;

let installation: Installation;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  upstream = await startChatUpstream({ apiKey: SECRETS.upstreamKey });
  installation = await startInstallation({
    SERVICE_LOG_LEVEL: 'debug',
    SERVICE_BREAKER_FAILURES: String(BREAKER_FAILURES),
    SERVICE_BREAKER_OPEN_SECS: '600',
  });
  await installation.register('up', `${upstream.url}/v1`);
});

afterAll(async () => {
  await installation.stop();
  await installation.remove();
  await upstream.close();
});

const gatewayUrl = (): string => installation.servers.gateway.url;

test('the gateway counts requests exactly, by route, backend and model', async () => {
  for (let count = 0; count < 3; count += 1) {
    const whole = await installation.post('/v1/chat/completions', chatBody('demo-chat'));
    expect(whole.status).toBe(200);
    await whole.text();
  }
  for (let count = 0; count < 2; count += 1) {
    const streamed = chatBody('demo-chat', { stream: true });
    await (await installation.post('/v1/chat/completions', streamed)).text();
  }
  const input = { model: 'demo-embed', input: SECRETS.prompt };
  expect((await installation.post('/v1/embeddings', input)).status).toBe(200);
  upstream.faults.next({ kind: 'status', status: 503 }, 1, 'chat');
  expect((await installation.post('/v1/chat/completions', chatBody('demo-chat'))).status).toBe(502);
  expect((await installation.post('/v1/chat/completions', chatBody('nobody'))).status).toBe(404);
  expect((await fetch(`${gatewayUrl()}/v1/models/nobody`)).status).toBe(401);

  const chatRoute = 'service_http_requests_total{route="/v1/chat/completions"';
  const expected = {
    [`${chatRoute},method="POST",status="2xx"}`]: 5,
    [`${chatRoute},method="POST",status="5xx"}`]: 1,
    [`${chatRoute},method="POST",status="4xx"}`]: 1,
  };
  // A response is counted when it is sent completely, which may be a moment after the client has it.
  await waitUntil(async () => {
    const counted = samplesOf(await scrape(gatewayUrl()), chatRoute);
    return Object.values(counted).reduce((sum, value) => sum + value, 0) === 7;
  });
  const scraped = await scrape(gatewayUrl());
  const { promptTokens, completionTokens } = upstream.totals;
  const model = 'model="demo-chat"';
  const embedTokens = upstream.served.find(
    ({ model: name }) => name === 'demo-embed',
  )?.promptTokens;
  expect(Object.fromEntries(scraped.samples)).toMatchObject({
    ...expected,
    'service_http_requests_total{route="/v1/models/{id}",method="GET",status="4xx"}': 1,
    'service_http_request_duration_seconds_count{route="/v1/chat/completions"}': 7,
    'service_upstream_requests_total{backend="up",operation="chat"}': 6,
    'service_upstream_requests_total{backend="up",operation="embeddings"}': 1,
    'service_upstream_errors_total{backend="up",kind="server_error"}': 1,
    'service_upstream_duration_seconds_count{backend="up",operation="chat"}': 6,
    'service_time_to_first_token_seconds_count{backend="up"}': 2,
    [`service_served_requests_total{${model}}`]: 5,
    [`service_tokens_total{${model},kind="prompt"}`]: promptTokens - (embedTokens ?? 0),
    [`service_tokens_total{${model},kind="completion"}`]: completionTokens,
    'service_tokens_total{model="demo-embed",kind="prompt"}': embedTokens,
    'service_backend_healthy{backend="up"}': 1,
    'service_backend_circuit{backend="up"}': 0,
    'service_backends{state="Healthy"}': 1,
    service_redis_connected: 1,
  });
});

test('the management plane counts calls by method and outcome, with one label for unknown methods', async () => {
  await installation.call('auth.me', {});
  await installation.call('auth.me', {});
  await expect(installation.call('auth.login', { email: 'x@example.com' })).rejects.toThrow();
  await expect(installation.call('not.a.method', {})).rejects.toThrow();
  const { samples } = await scrape(installation.servers.rpc.url);
  expect(Object.fromEntries(samples)).toMatchObject({
    'service_rpc_calls_total{method="auth.me",code="ok"}': 2,
    'service_rpc_calls_total{method="auth.register",code="ok"}': 1,
    'service_rpc_calls_total{method="auth.login",code="-32602"}': 1,
    'service_rpc_calls_total{method="other",code="-32601"}': 1,
    'service_rpc_call_duration_seconds_count{method="auth.me"}': 2,
    'service_backend_healthy{backend="up"}': 1,
  });
});

test('a turn on the management plane is counted like one on the gateway', async () => {
  await installation.call('chat.send', chatBody('demo-chat'));
  await waitUntil(async () => {
    const { samples } = await scrape(installation.servers.rpc.url);
    return samples.get('service_served_requests_total{model="demo-chat"}') === 1;
  });
  const { samples } = await scrape(installation.servers.rpc.url);
  expect(samples.get('service_time_to_first_token_seconds_count{backend="up"}')).toBe(1);
});

test('the worker shows that all usage was recorded, and its queue', async () => {
  await waitUntil(async () => {
    const { samples } = await scrape(installation.servers['video-worker'].url);
    return samples.get('service_usage_recorded_total') === 7;
  });
  const { samples } = await scrape(installation.servers['video-worker'].url);
  expect(samples.get('service_journal_lag')).toBe(0);
  expect(samples.get('service_video_queue_depth')).toBe(0);
});

test('the tunnel shows its nodes', async () => {
  const { samples } = await scrape(installation.servers['agent-tunnel'].url);
  expect(samples.get('service_agents_connected')).toBe(0);
  expect(samples.get('service_agent_frames_refused_total')).toBe(0);
});

test.each(['gateway', 'rpc', 'video-worker', 'agent-tunnel'] as const)(
  'the %s shows its build, its event loop, its memory and its stores',
  async (name) => {
    const { samples, contentType } = await scrape(installation.servers[name].url);
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    const names = [...samples.keys()];
    expect(names.some((series) => series.startsWith('service_build_info{version="'))).toBe(true);
    expect(samples.get('service_database_pool_connections{state="waiting"}')).toBe(0);
    for (const shown of [
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'service_journal_lag',
      'service_redis_connected',
      'service_database_pool_connections{state="total"}',
      'service_http_requests_in_flight',
    ])
      expect(samples.has(shown)).toBe(true);
  },
);

test('every request is one log line, and no log line contains a secret or a prompt', async () => {
  const quoted = { error: { message: `the filter did not like: ${SECRETS.prompt}` } };
  upstream.faults.next({ kind: 'error-body', body: quoted }, 1, 'chat');
  const id = 'a-logged-request';
  const failed = await installation.post('/v1/chat/completions', chatBody('demo-chat'), {
    'x-request-id': id,
  });
  expect(failed.status).toBe(502);
  expect(await failed.text()).toContain(SECRETS.prompt);
  const video = { model: 'nobody', prompt: SECRETS.prompt };
  expect((await installation.post('/v1/video/generations', video)).status).toBe(503);
  const wrong = { email: 'owner@example.com', password: `${SECRETS.password}!` };
  await expect(installation.call('auth.login', wrong)).rejects.toThrow();

  const { gateway } = installation.servers;
  const linesOf = (text: string): readonly Record<string, unknown>[] =>
    text
      .split('\n')
      .filter((line) => line.includes(id))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'request');
  await waitUntil(() => linesOf(gateway.output()).length > 0);
  expect(linesOf(gateway.output())).toEqual([
    {
      level: 'info',
      time: expect.any(String),
      app: 'gateway',
      request_id: id,
      method: 'POST',
      route: '/v1/chat/completions',
      status: 502,
      duration_ms: expect.any(Number),
      msg: 'request',
    },
  ]);
  expect(gateway.output()).toContain('a request failed');
  const secrets = [...Object.values(SECRETS), installation.key, installation.token];
  for (const server of Object.values(installation.servers)) {
    const text = server.output();
    expect(text).toContain('"level":"debug"');
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  }
});

describe('monitoring', () => {
  /** The metrics of all processes, with their kinds. */
  let kinds: ReadonlyMap<string, string>;
  let samples: readonly string[];

  beforeAll(async () => {
    const all = await Promise.all(
      Object.values(installation.servers).map(({ url }) => scrape(url)),
    );
    kinds = new Map(all.flatMap((one) => [...one.kinds]));
    samples = all.flatMap((one) => [...one.samples.keys()]);
  });

  /** The metric that a name in an expression stands for. */
  const metricOf = (name: string): string => {
    const family = name.replace(/_(bucket|sum|count)$/, '');
    return kinds.get(family) === 'histogram' ? family : name;
  };

  /** The metrics and labels of an expression that are not exposed. */
  function unknownIn(expression: string): readonly string[] {
    const described = new Map(describedMetrics().map((metric) => [metric.name, metric.labels]));
    return selectedBy(withoutVariables(expression)).flatMap(({ metric, labels }) => {
      if (metric === 'up') return [];
      const name = metricOf(metric);
      if (!kinds.has(name)) return [metric];
      const allowed = ['job', 'instance', ...(described.get(name) ?? [])];
      return labels
        .filter((label) => !allowed.includes(label))
        .map((label) => `${metric}.${label}`);
    });
  }

  test('the operations page lists every metric with its kind and its labels', () => {
    const ours = [...kinds].filter(([name]) => name.startsWith('service_'));
    const described = describedMetrics();
    expect(Object.fromEntries(described.map(({ name, kind }) => [name, kind]))).toEqual(
      Object.fromEntries(ours),
    );
    for (const { name, labels } of described) {
      const series = samples.filter((one) => metricOf(one.replace(/\{.*/, '')) === name);
      const used = series.map((one) =>
        [...one.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== 'le'),
      );
      const first = used[0] ?? labels;
      expect({ name, labels: new Set(labels) }).toEqual({ name, labels: new Set(first) });
    }
  });

  test('every panel of the dashboard uses exposed metrics', () => {
    const { panels, templating } = readDashboard();
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'job']);
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(30);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  test('every metric of the service is on the dashboard', () => {
    const shown = readDashboard().panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => selectedBy(withoutVariables(expr))),
    );
    const names = new Set(shown.map(({ metric }) => metricOf(metric)));
    expect(describedMetrics().filter(({ name }) => !names.has(name))).toEqual([]);
  });

  test('every alert uses exposed metrics and has a runbook', () => {
    const alerts = readAlerts();
    expect(alerts.length).toBeGreaterThan(15);
    expect(alerts.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
    const headings = [...operationsPage().matchAll(/^### (ModelGateway\w+)$/gm)];
    expect(headings.map(([, name]) => name)).toEqual(alerts.map(({ alert }) => alert));
    for (const { alert, annotations } of alerts)
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
  });
});

test('every process that routes shows an open circuit', async () => {
  upstream.faults.always({ kind: 'status', status: 500 }, 'chat');
  for (let count = 0; count < BREAKER_FAILURES; count += 1)
    await installation.post('/v1/chat/completions', chatBody('demo-chat'));
  const { gateway, rpc, 'video-worker': worker } = installation.servers;
  for (const { url } of [gateway, rpc, worker])
    await waitUntil(async () => {
      const { samples } = await scrape(url);
      return samples.get('service_backend_circuit{backend="up"}') === 2;
    });
  upstream.faults.clear();
});

test('values of callers do not create new series', async () => {
  const before = [...(await scrape(gatewayUrl())).samples.keys()];
  const { port } = installation.servers.gateway;
  const count = BOGUS / 2;
  const statuses = await Promise.all([
    sendBogus({ port, count, write: bogusPath }),
    sendBogus({ port, count, write: (index) => bogusModel(installation.key, index) }),
  ]);
  expect(statuses).toEqual([{ 404: count }, { 404: count }]);
  const { samples } = await scrape(gatewayUrl());
  const added = [...samples.keys()].filter(
    (series) => series.startsWith('service_') && !before.includes(series),
  );
  // One series for all unknown paths, and the buckets of their duration.
  expect(added.filter((series) => !series.includes('route="other"'))).toEqual([]);
  expect(added.length).toBeLessThan(20);
  const others = 'service_http_requests_total{route="other",method="GET",status="4xx"}';
  await waitUntil(async () => (await scrape(gatewayUrl())).samples.get(others) === count);
});
