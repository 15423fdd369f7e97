import { mergeEnded, mergeMetrics } from './merge-metrics.ts';
import { createMetrics, type Metrics } from './metrics.ts';

/** A process that has served some requests. */
function served(requests: number): Metrics {
  const metrics = createMetrics({ ofProcess: false });
  const labels = { labels: ['route'] } as const;
  metrics
    .counter({ name: 'requests_total', help: 'Requests.', ...labels })
    .series({ route: '/a "b" {c}' })
    .inc(requests);
  metrics
    .histogram({ name: 'delay_seconds', help: 'Delays.', ...labels, buckets: [1] })
    .series({ route: '/a' })
    .observe(requests);
  metrics.gauge({ name: 'in_flight', help: 'Now.' }).set(requests);
  metrics.gauge({ name: 'backends', help: 'Known.', isShared: true }).set(7);
  return metrics;
}

test('the metrics of processes are added up, and what all of them show is shown once', async () => {
  const one = await served(1).snapshot();
  const { text } = mergeMetrics([one, await served(2).snapshot()]);
  expect(text).toContain('# HELP requests_total Requests.\n# TYPE requests_total counter\n');
  expect(text).toContain('\nrequests_total{route="/a \\"b\\" {c}"} 3\n');
  expect(text).toContain('delay_seconds_bucket{le="1",route="/a"} 1\n');
  expect(text).toContain('delay_seconds_bucket{le="+Inf",route="/a"} 2\n');
  expect(text).toContain('delay_seconds_sum{route="/a"} 3\n');
  expect(text).toContain('\nin_flight 3\n');
  expect(text).toContain('\nbackends 7\n');
  expect(text.match(/# TYPE/g)).toHaveLength(4);
  expect(mergeMetrics([one]).text.split('\n').toSorted()).toEqual(one.text.split('\n').toSorted());
});

test('of a process that has ended only what it has counted remains', async () => {
  const { text } = mergeMetrics([
    await served(1).snapshot(),
    mergeEnded([await served(2).snapshot()]),
  ]);
  expect(text).toContain('\nrequests_total{route="/a \\"b\\" {c}"} 3\n');
  expect(text).toContain('\ndelay_seconds_count{route="/a"} 2\n');
  expect(text).toContain('\nin_flight 1\n');
});

test('what a process says of itself is the highest value, not the sum', async () => {
  const own = await createMetrics().snapshot();
  const { text } = mergeMetrics([own, own]);
  const valueOf = (name: string, of: string): number =>
    Number(new RegExp(`^${name} (.+)$`, 'm').exec(of)?.[1]);
  expect(valueOf('process_start_time_seconds', text)).toBe(
    valueOf('process_start_time_seconds', own.text),
  );
  expect(valueOf('process_resident_memory_bytes', text)).toBe(
    2 * valueOf('process_resident_memory_bytes', own.text),
  );
});
