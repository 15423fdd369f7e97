import parsePrometheusText from 'parse-prometheus-text-format';

/** The metrics of one process. */
export interface Scrape {
  readonly contentType: string | null;
  /** The names of all metrics, including those without a series, with their kinds. */
  readonly kinds: ReadonlyMap<string, string>;
  /** The samples by series, as written: `name{label="value"}`. */
  readonly samples: ReadonlyMap<string, number>;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{.*\})?) (\S+)$/;

/** Scrapes a process; fails if the format is invalid. */
export async function scrape(baseUrl: string): Promise<Scrape> {
  const response = await fetch(`${baseUrl}/metrics`);
  const text = await response.text();
  const families = parsePrometheusText(text);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return {
    contentType: response.headers.get('content-type'),
    kinds: new Map(families.map(({ name, type }) => [name, type.toLowerCase()])),
    samples: new Map(lines.map(sampleOf)),
  };
}

function sampleOf(line: string): [string, number] {
  const [, series, value] = SAMPLE.exec(line) ?? [];
  if (series === undefined || value === undefined) throw new Error(`no sample: ${line}`);
  return [series, Number(value)];
}

/** The samples whose series start with a prefix. */
export const samplesOf = ({ samples }: Scrape, prefix: string): Readonly<Record<string, number>> =>
  Object.fromEntries([...samples].filter(([series]) => series.startsWith(prefix)));
