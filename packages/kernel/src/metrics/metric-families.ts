/** One series of a counter. Counting is a plain addition, so every request can afford it. */
export interface CounterSeries {
  inc(amount?: number): void;
}

/** One series of a histogram. */
export interface HistogramSeries {
  observe(value: number): void;
}

/** All series of one metric. Callers look a series up once and keep it. */
export interface MetricFamily<Series, Label extends string> {
  /** The series with these label values; above the maximum, further ones share the series `other`. */
  series(labels: Readonly<Record<Label, string>>): Series;
}

/** A family that can be rendered for a scrape. */
export interface ExposedFamily {
  readonly kind: 'counter' | 'histogram';
  expose(): string;
}

interface FamilyOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** The most series of one metric, whatever the label values are. */
const SERIES_MAX = 2_000;
const OTHER = 'other';

/** A family of plain sums. */
export function createCounterFamily<Label extends string>(
  options: FamilyOptions<Label>,
): MetricFamily<CounterSeries, Label> & ExposedFamily {
  const { name } = options;
  const { series, all } = boundedSeries(options, () => new Counted());
  return {
    kind: 'counter',
    series,
    expose: () =>
      text(
        options,
        'counter',
        [...all()].map(([labels, { value }]) => line(name, labels, value)),
      ),
  };
}

/** A family of distributions over fixed buckets. */
export function createHistogramFamily<Label extends string>(
  options: FamilyOptions<Label>,
  buckets: readonly number[],
): MetricFamily<HistogramSeries, Label> & ExposedFamily {
  const { series, all } = boundedSeries(options, () => new Distribution(buckets));
  return {
    kind: 'histogram',
    series,
    expose: () =>
      text(
        options,
        'histogram',
        [...all()].flatMap(([labels, distribution]) =>
          distributionLines(options.name, labels, distribution),
        ),
      ),
  };
}

class Counted implements CounterSeries {
  value = 0;
  inc(amount = 1): void {
    this.value += amount;
  }
}

class Distribution implements HistogramSeries {
  readonly buckets: readonly number[];
  /** How many values fell into each bucket (not cumulative); the last entry counts values above all buckets. */
  readonly counts: number[];
  sum = 0;

  constructor(buckets: readonly number[]) {
    this.buckets = buckets;
    this.counts = Array.from({ length: buckets.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.buckets.length && value > (this.buckets[at] ?? 0)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += value;
  }
}

/** Series by their rendered labels. */
function boundedSeries<Label extends string, Series>(
  { labels: names }: FamilyOptions<Label>,
  make: () => Series,
) {
  const known = new Map<string, Series>();

  function find(labels: string): Series {
    const existing = known.get(labels);
    if (existing !== undefined) return existing;
    const made = make();
    known.set(labels, made);
    return made;
  }

  const series = (values: Readonly<Record<Label, string>>): Series => {
    const labels = renderLabels(names, (name) => values[name]);
    const isTooMany = names.length > 0 && known.size >= SERIES_MAX && !known.has(labels);
    return find(isTooMany ? renderLabels(names, () => OTHER) : labels);
  };

  return { series, all: () => known.entries() };
}

const renderLabels = <Label extends string>(
  names: readonly Label[],
  valueOf: (name: Label) => string,
): string => names.map((name) => `${name}="${escaped(valueOf(name))}"`).join(',');

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

function distributionLines(
  name: string,
  labels: string,
  { buckets, counts, sum }: Distribution,
): readonly string[] {
  let total = 0;
  const lines = [...buckets.map(String), '+Inf'].map((bound, at) => {
    total += counts[at] ?? 0;
    const all = labels === '' ? `le="${bound}"` : `le="${bound}",${labels}`;
    return line(`${name}_bucket`, all, total);
  });
  return [...lines, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)];
}

const line = (name: string, labels: string, value: number): string =>
  labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`;

function text(
  { name, help }: { readonly name: string; readonly help: string },
  type: string,
  lines: readonly string[],
): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}
