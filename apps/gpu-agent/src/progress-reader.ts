/** The progress in a line of engine output. */
export interface ReadProgress {
  readonly status: 'pulling' | 'loading';
  /** 0 to 100. */
  readonly progress: number;
  readonly downloadedBytes?: number;
  readonly totalBytes?: number;
}

const PERCENT = /(?<![\d.])(\d{1,3}(?:\.\d+)?)\s?%/;
// Ollama and curl write "1.2 GB/4.7 GB", tqdm "1.20G/4.70G".
const BYTES = /(\d+(?:\.\d+)?)\s?([KMGT]?)(i?)B?\s?\/\s?(\d+(?:\.\d+)?)\s?([KMGT]?)(i?)B?\b/;
const PULLING = /pull|download|fetch/i;
const POWERS = ['', 'K', 'M', 'G', 'T'];
const PERCENT_MAX = 100;

/** Undefined for a line without progress. */
export function readProgress(
  line: string,
  phase: ReadProgress['status'],
): ReadProgress | undefined {
  const percent = Number(PERCENT.exec(line)?.[1] ?? Number.NaN);
  if (!(percent >= 0 && percent <= PERCENT_MAX)) return undefined;
  return {
    status: PULLING.test(line) ? 'pulling' : phase,
    progress: percent,
    ...bytesIn(line),
  };
}

function bytesIn(line: string): Pick<ReadProgress, 'downloadedBytes' | 'totalBytes'> {
  const [, done, doneUnit = '', doneBinary, total, totalUnit = '', totalBinary] =
    BYTES.exec(line) ?? [];
  // Without a unit it may be a count of anything: shards, layers, tensors.
  if (done === undefined || total === undefined || totalUnit === '') return {};
  return {
    downloadedBytes: bytesOf(done, doneUnit, doneBinary),
    totalBytes: bytesOf(total, totalUnit, totalBinary),
  };
}

function bytesOf(amount: string, unit: string, binary: string | undefined): number {
  const base = binary === 'i' ? 1024 : 1000;
  return Math.round(Number(amount) * base ** POWERS.indexOf(unit));
}
