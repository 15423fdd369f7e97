/** The metrics of one process. */
export interface MetricsSnapshot {
  /** As Prometheus reads it. */
  readonly text: string;
  /** The gauges that have the same value in every process. */
  readonly shared: readonly string[];
}

interface Family {
  /** The lines before the values: what it is about, and its type. */
  readonly comments: string[];
  readonly values: Map<string, number>;
}

/** What a process says of itself that does not add up. */
const HIGHEST =
  /^(?:nodejs_eventloop_lag_|nodejs_version_info|process_start_time_|process_max_fds|service_build_info)/;

/** The metrics of a service that has several processes: sums, and of shared gauges the value of the first process that has it. */
export function mergeMetrics(snapshots: readonly MetricsSnapshot[]): MetricsSnapshot {
  const families = new Map<string, Family>();
  const shared = new Set(snapshots.flatMap((snapshot) => snapshot.shared));
  for (const { text } of snapshots) addText(families, text, shared);
  const blocks = [...families.values()].map(({ comments, values }) =>
    [...comments, ...[...values].map(([series, value]) => `${series} ${written(value)}`), ''].join(
      '\n',
    ),
  );
  return { text: blocks.join('\n'), shared: [...shared] };
}

/** What still counts of a process that has ended: counters and distributions. */
export function mergeEnded(snapshots: readonly MetricsSnapshot[]): MetricsSnapshot {
  const { text } = mergeMetrics(snapshots);
  const blocks = text.split(/\n(?=# HELP )/);
  const counting = blocks.filter((block) =>
    /^# TYPE \S+ (?:counter|histogram|summary)$/m.test(block),
  );
  return { text: counting.join('\n'), shared: [] };
}

function addText(families: Map<string, Family>, text: string, shared: ReadonlySet<string>): void {
  const ofThis = new Set<string>();
  let family: Family | undefined;
  let name = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, kind, described = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (kind !== undefined) {
      name = described;
      const known = families.get(name);
      family = known ?? { comments: [], values: new Map() };
      families.set(name, family);
      if (known === undefined) ofThis.add(name);
      if (ofThis.has(name)) family.comments.push(line);
      continue;
    }
    if (family === undefined) continue;
    const at = line.lastIndexOf(' ');
    const [series, value] = [line.slice(0, at), read(line.slice(at + 1))];
    const before = family.values.get(series);
    family.values.set(series, before === undefined ? value : merged(name, before, value));
  }

  function merged(of: string, before: number, value: number): number {
    if (shared.has(of)) return before;
    return HIGHEST.test(of) ? Math.max(before, value) : before + value;
  }
}

const read = (text: string): number =>
  text === 'Nan' ? Number.NaN : Number(text.replace('Inf', 'Infinity'));

const written = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';
