import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type MetricConfiguration,
} from 'prom-client';

interface MetricOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  /** Label values must come from a bounded set: never a key, a user or a path that a caller chose. */
  readonly labels?: readonly Label[];
}

interface GaugeOptions<Label extends string> extends MetricOptions<Label> {
  /** Called at scrape time, for a value that is cheaper to ask for than to follow. */
  readonly collect?: (gauge: Gauge<Label>) => void | Promise<void>;
}

interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  readonly buckets: readonly number[];
}

/**
 * The Prometheus registry of one process. Asking twice for one name gives the same metric, so that apps which share a
 * process share their metrics too.
 */
export interface Metrics {
  counter<Label extends string = never>(options: MetricOptions<Label>): Counter<Label>;
  gauge<Label extends string = never>(options: GaugeOptions<Label>): Gauge<Label>;
  histogram<Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label>;
  readonly contentType: string;
  /** The text that a scrape answers. */
  expose(): Promise<string>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  function once<Metric>(name: string, make: () => Metric): Metric {
    const existing = registry.getSingleMetric(name);
    // The name was given to the same kind of metric before; prom-client has no typed look-up.
    return existing === undefined ? make() : (existing as Metric);
  }

  function base<Label extends string>(options: MetricOptions<Label>): MetricConfiguration<Label> {
    return {
      name: options.name,
      help: options.help,
      labelNames: [...(options.labels ?? [])],
      registers: [registry],
    };
  }

  return {
    counter: (options) => once(options.name, () => new Counter(base(options))),
    gauge: (options) =>
      once(options.name, () => {
        const { collect } = options;
        return new Gauge({
          ...base(options),
          ...(collect === undefined
            ? {}
            : {
                collect() {
                  return collect(this);
                },
              }),
        });
      }),
    histogram: (options) =>
      once(options.name, () => new Histogram({ ...base(options), buckets: [...options.buckets] })),
    contentType: registry.contentType,
    expose: () => registry.metrics(),
  };
}
