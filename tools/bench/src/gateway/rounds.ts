import { medians, type Sample } from '../measure/statistics.ts';
import { print, type Row } from '../measure/table.ts';
import { sendRequests, type Target } from '../load/loads.ts';
import { chatOf, type Candidate } from './candidates.ts';

/** How long a run takes. */
export interface Size {
  readonly rounds: number;
  readonly requestMs: number;
  /** The first requests of a process cost ten times as much as later ones. */
  readonly warmRequests: number;
  readonly idleMs: number;
}

/** Many short rounds, so that other work on the machine affects all candidates equally. */
export const FULL: Size = { rounds: 9, requestMs: 1500, warmRequests: 15_000, idleMs: 60_000 };
export const QUICK: Size = { rounds: 1, requestMs: 500, warmRequests: 300, idleMs: 5000 };

const WARM_CONNECTIONS = 16;
const WARM_STEP_MS = 500;
const WARM_STEPS_MAX = 60;

/** Starts candidates, calls `work` with those that could be started, and stops them. */
export async function withCandidates<Result>(
  starting: readonly Promise<Candidate | undefined>[],
  work: (candidates: readonly Candidate[]) => Promise<Result>,
): Promise<Result> {
  const outcomes = await Promise.allSettled(starting);
  const started = outcomes.flatMap((each) =>
    each.status === 'fulfilled' && each.value !== undefined ? [each.value] : [],
  );
  try {
    for (const each of outcomes) if (each.status === 'rejected') throw each.reason;
    return await work(started);
  } finally {
    await Promise.all(started.map((each) => each.stop()));
  }
}

/** Sends requests until the code of the candidate is compiled. */
async function warmUp(target: Target, size: Size): Promise<void> {
  let sent = 0;
  for (let step = 0; step < WARM_STEPS_MAX && sent < size.warmRequests; step += 1) {
    const load = { connections: WARM_CONNECTIONS, durationMs: WARM_STEP_MS };
    const { units = 0, failed = 0 } = await sendRequests(target, load);
    sent += units;
    if (failed > 0 && units === 0) throw new Error('a candidate answers no request');
  }
}

type Measure = (candidate: Candidate) => Promise<Sample>;

/** Measures the candidates in turns; the median of the rounds counts. */
export async function inTurns(
  candidates: readonly Candidate[],
  rounds: number,
  measure: Measure,
): Promise<readonly Row[]> {
  const samples = candidates.map((): Sample[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, candidate] of candidates.entries())
      samples[index]?.push(await measureOnce(candidate, measure));
  }
  return candidates.map(({ name, label }, index) => ({
    name,
    label,
    values: medians(samples[index] ?? []),
  }));
}

/** One measurement with the CPU time of an answer or a token. */
export async function measureOnce(candidate: Candidate, measure: Measure): Promise<Sample> {
  const before = candidate.cpuMs();
  const sample = await measure(candidate);
  // What it still has to do for these answers belongs to them, and must not disturb the next candidate.
  await candidate.settled();
  return { ...sample, cpuUs: ((candidate.cpuMs() - before) * 1000) / (sample['units'] ?? NaN) };
}

/** Adds `name` to each row: how much `key` is above that of the upstream alone. */
export function withAdded(rows: readonly Row[], key: string, name: string): readonly Row[] {
  const base = rows.find((row) => row.name === 'direct')?.values[key] ?? NaN;
  return rows.map((row) =>
    row.name === 'direct'
      ? row
      : { ...row, values: { ...row.values, [name]: (row.values[key] ?? NaN) - base } },
  );
}

/** Warms up candidates with whole answers, and with streams if a model for them is given. */
export async function warmAll(
  candidates: readonly Candidate[],
  size: Size,
  streamed?: string,
): Promise<void> {
  for (const candidate of candidates) {
    print(`warming up ${candidate.label}`);
    await warmUp(chatOf(candidate, streamed), size);
    await candidate.settled();
  }
}
