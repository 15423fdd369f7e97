import { createMetrics } from './metrics.ts';

test('asking twice for one name gives one metric', async () => {
  const metrics = createMetrics();
  const options = { name: 'service_things_total', help: 'Things.', labels: ['kind'] as const };
  metrics.counter(options).inc({ kind: 'a' });
  metrics.counter(options).inc({ kind: 'a' });
  expect(await metrics.expose()).toContain('service_things_total{kind="a"} 2');
});

test('the process itself is measured', async () => {
  expect(await createMetrics().expose()).toContain('nodejs_eventloop_lag_seconds');
});

test('a gauge can be asked for at scrape time', async () => {
  const metrics = createMetrics();
  metrics.gauge({ name: 'service_depth', help: 'Depth.', collect: (gauge) => gauge.set(7) });
  expect(await metrics.expose()).toContain('service_depth 7');
});
