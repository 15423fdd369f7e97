import { createMetrics } from './metrics.ts';

test('registering one name twice returns the same metric', async () => {
  const metrics = createMetrics();
  const options = { name: 'service_things_total', help: 'Things.', labels: ['kind'] as const };
  metrics.counter(options).series({ kind: 'a' }).inc();
  metrics.counter(options).series({ kind: 'a' }).inc();
  expect(await metrics.expose()).toContain('service_things_total{kind="a"} 2');
});

test('a counter without labels counts too', async () => {
  const metrics = createMetrics();
  metrics.counter({ name: 'service_things_total', help: 'Things.' }).series({}).inc(2.5);
  expect(await metrics.expose()).toContain('\nservice_things_total 2.5\n');
});

test('the process itself is measured', async () => {
  expect(await createMetrics().expose()).toContain('nodejs_eventloop_lag_seconds');
});

test('a gauge can be collected at scrape time', async () => {
  const metrics = createMetrics();
  metrics.gauge({ name: 'service_depth', help: 'Depth.', collect: (gauge) => gauge.set(7) });
  expect(await metrics.expose()).toContain('service_depth 7');
});

test('a histogram counts each value in every bucket that includes it', async () => {
  const metrics = createMetrics();
  const family = metrics.histogram({
    name: 'service_delay_seconds',
    help: 'Delays.',
    labels: ['route'],
    buckets: [0.1, 1],
  });
  const series = family.series({ route: '/a' });
  for (const value of [0.05, 0.1, 0.5, 7]) series.observe(value);
  const text = await metrics.expose();
  expect(text.slice(text.indexOf('# HELP service_delay_seconds'))).toBe(
    [
      '# HELP service_delay_seconds Delays.',
      '# TYPE service_delay_seconds histogram',
      'service_delay_seconds_bucket{le="0.1",route="/a"} 2',
      'service_delay_seconds_bucket{le="1",route="/a"} 3',
      'service_delay_seconds_bucket{le="+Inf",route="/a"} 4',
      'service_delay_seconds_sum{route="/a"} 7.65',
      'service_delay_seconds_count{route="/a"} 4',
      '',
    ].join('\n'),
  );
});

test('the number of series per metric is bounded, and no count is lost', async () => {
  const metrics = createMetrics();
  const family = metrics.counter({ name: 'service_x_total', help: 'X.', labels: ['name'] });
  for (let count = 0; count < 10_000; count += 1) family.series({ name: `n${count}` }).inc();
  const lines = (await metrics.expose())
    .split('\n')
    .filter((line) => line.startsWith('service_x_total'));
  expect(lines).toHaveLength(2_001);
  expect(lines.at(-1)).toBe('service_x_total{name="other"} 8000');
});

test.each(['"', '\\', '\n', 'a"} 1\nservice_x_total{v="b', '\\"', '中文 🙂'])(
  'the label value %j stays inside its quotes',
  async (value) => {
    const metrics = createMetrics();
    metrics.counter({ name: 'service_x_total', help: 'X.', labels: ['v'] }).series({ v: value });
    const lines = (await metrics.expose()).split('\n');
    const found = lines.filter((line) => line.startsWith('service_x_total{'));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^service_x_total\{v="(?:[^"\\]|\\["\\n])*"\} 0$/u);
  },
);
