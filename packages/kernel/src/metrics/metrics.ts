import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import {
  createCounterFamily,
  createHistogramFamily,
  type CounterSeries,
  type ExposedFamily,
  type HistogramSeries,
  type MetricFamily,
} from './metric-families.ts';
import type { MetricsSnapshot } from './merge-metrics.ts';

interface MetricOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  /** Label values must come from a bounded set: never a key, a user or a path from a request. */
  readonly labels?: readonly Label[];
}

interface GaugeOptions<Label extends string> extends MetricOptions<Label> {
  /** Called at scrape time, for a value that is cheaper to read than to track. */
  readonly collect?: (gauge: Gauge<Label>) => void | Promise<void>;
  /** Whether it describes the installation, so that every process has the same value. */
  readonly isShared?: boolean;
}

interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  readonly buckets: readonly number[];
}

/**
 * The Prometheus registry of one process. Registering one name twice returns the same metric, so apps in one process
 * share their metrics.
 */
export interface Metrics {
  counter<Label extends string = never>(
    options: MetricOptions<Label>,
  ): MetricFamily<CounterSeries, Label>;
  gauge<Label extends string = never>(options: GaugeOptions<Label>): Gauge<Label>;
  histogram<Label extends string = never>(
    options: HistogramOptions<Label>,
  ): MetricFamily<HistogramSeries, Label>;
  readonly contentType: string;
  /** The text of a scrape response. */
  expose(): Promise<string>;
  /** For `mergeMetrics`. */
  snapshot(): Promise<MetricsSnapshot>;
}

interface MetricsOptions {
  /** Whether the memory, the CPU time and the event loop of the process are measured, too. */
  readonly ofProcess?: boolean;
}

/** How often the delay of the event loop is measured: each time wakes the process, also when it has nothing to do. */
const LOOP_DELAY_EVERY_MS = 1_000;

export function createMetrics({ ofProcess = true }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  // prom-client looks a series up by its labels on every count; these counters and histograms do not.
  const shared = new Set<string>();
  const families = new Map<string, ExposedFamily>();
  if (ofProcess)
    collectDefaultMetrics({
      register: registry,
      eventLoopMonitoringPrecision: LOOP_DELAY_EVERY_MS,
    });

  function once<Family extends ExposedFamily>(name: string, make: () => Family): Family {
    const existing = families.get(name);
    // One name always has the same kind of metric.
    if (existing !== undefined) return existing as Family;
    const made = make();
    families.set(name, made);
    return made;
  }

  async function expose(): Promise<string> {
    const gauges = await registry.metrics();
    return [gauges, ...[...families.values()].map((family) => family.expose())].join('\n');
  }

  return {
    counter: ({ name, help, labels = [] }) =>
      once(name, () => createCounterFamily({ name, help, labels })),
    histogram: ({ name, help, labels = [], buckets }) =>
      once(name, () => createHistogramFamily({ name, help, labels }, buckets)),
    gauge<Label extends string>({
      name,
      help,
      labels = [],
      collect,
      isShared = false,
    }: GaugeOptions<Label>) {
      if (isShared) shared.add(name);
      const existing = registry.getSingleMetric(name);
      // The registry has no typed lookup.
      if (existing !== undefined) return existing as Gauge<Label>;
      return new Gauge<Label>({
        name,
        help,
        labelNames: [...labels],
        registers: [registry],
        ...(collect === undefined
          ? {}
          : {
              collect() {
                return collect(this);
              },
            }),
      });
    },
    contentType: registry.contentType,
    expose,
    snapshot: async () => ({ text: await expose(), shared: [...shared] }),
  };
}
