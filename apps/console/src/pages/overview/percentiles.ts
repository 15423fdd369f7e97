import type { RpcResult } from '@model-gateway/contracts';
import type { Plot } from '../../ui/chart/plot-options.ts';

type Request = Pick<
  RpcResult<'requests.list'>['requests'][number],
  'created_at' | 'first_token_ms' | 'latency_ms'
>;

/** The value that the given share of the values does not exceed; undefined without values. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

const SLICES_MAX = 24;
/** A percentile of fewer says little. */
const REQUESTS_PER_SLICE = 8;

/** Percentiles of the times to the first token or to the end, over the time that the requests cover. */
export function percentilePlot(
  requests: readonly Request[],
  measure: 'first_token_ms' | 'latency_ms',
  names: { readonly p50: string; readonly p95: string },
): Plot | undefined {
  const timed = requests.flatMap(({ created_at: time, [measure]: ms }) =>
    ms === null ? [] : [{ time: Date.parse(time), ms }],
  );
  if (timed.length === 0) return undefined;
  const times = timed.map(({ time }) => time);
  const from = Math.min(...times);
  const to = Math.max(...times, from + 1);
  const count = Math.min(SLICES_MAX, Math.max(1, Math.floor(timed.length / REQUESTS_PER_SLICE)));
  const size = (to - from) / count;
  const slices = Array.from({ length: count }, (): number[] => []);
  for (const { time, ms } of timed)
    slices[Math.min(count - 1, Math.floor((time - from) / size))]?.push(ms);
  const of = (share: number): readonly (number | null)[] =>
    slices.map((slice) => percentile(slice, share) ?? null);
  return {
    kind: 'lines',
    unit: 'duration',
    times: slices.map((_, index) => Math.round(from + (index + 0.5) * size)),
    from,
    to,
    isByDay: false,
    series: [
      { name: names.p50, values: of(0.5) },
      { name: names.p95, values: of(0.95) },
    ],
  };
}
