import { percentile, percentilePlot } from './percentiles.ts';

test.each([
  { values: [], share: 0.5, result: undefined },
  { values: [7], share: 0.95, result: 7 },
  { values: [3, 1, 2, 4], share: 0.5, result: 2 },
  { values: Array.from({ length: 100 }, (_, index) => index + 1), share: 0.95, result: 95 },
])('the $share percentile of $values.length values is $result', ({ values, share, result }) => {
  expect(percentile(values, share)).toBe(result);
});

const names = { p50: 'p50', p95: 'p95' };

test('requests without a first token are left out', () => {
  const time = '2026-03-01T10:00:00Z';
  const silent = { created_at: time, first_token_ms: null, latency_ms: 5 };
  expect(percentilePlot([silent], 'first_token_ms', names)).toBeUndefined();
  const requests = [silent, { created_at: time, first_token_ms: 40, latency_ms: 50 }];
  const of = (measure: 'first_token_ms' | 'latency_ms') =>
    percentilePlot(requests, measure, names)?.series.map(({ values }) => values);
  expect(of('first_token_ms')).toEqual([[40], [40]]);
  expect(of('latency_ms')).toEqual([[5], [50]]);
});

test('the requests are divided by time', () => {
  const start = Date.parse('2026-03-01T10:00:00Z');
  const plot = percentilePlot(
    Array.from({ length: 16 }, (_, index) => ({
      created_at: new Date(start + index * 1000).toISOString(),
      first_token_ms: index < 8 ? 100 : 300,
      latency_ms: 500,
    })),
    'first_token_ms',
    names,
  );
  expect(plot?.times).toHaveLength(2);
  expect(plot?.series[1]?.values).toEqual([100, 300]);
});
