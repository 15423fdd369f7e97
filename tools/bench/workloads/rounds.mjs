// The method of all workloads: candidates take turns in rounds, and the median of the rounds counts.
import { cpuMs } from '../processes.mjs';
import { WHOLE_ANSWER } from './chat-body.mjs';

const PEERS = ['direct', 'nginx', 'bare', 'metered', 'portkey', 'gateway'];
const WARM_REQUESTS = 15_000;
const WARMUP_STEP_MS = 1000;

// If the middle half of the rounds differs by more than this, they were disturbed or code was still being compiled.
const SPREAD_PERCENT_MAX = 15;

/** Sends requests until the code is compiled: enough of them, or until the time limit. */
export async function sendUntilWarm(load, warmupMs) {
  let sent = 0;
  for (let spent = 0; spent < warmupMs && sent < WARM_REQUESTS; spent += WARMUP_STEP_MS) {
    sent += (await load(WARMUP_STEP_MS)).requests;
  }
}

/** The value below which this share of some numbers is; undefined if there are none. */
function quantile(values, share) {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (values) => quantile(values, 0.5);

/** The median of a value of every round. */
export const medianOf = (samples, pick) => median(samples.map(pick));

/** The median CPU time per request or token, in microseconds. */
export const cpuUsPerOne = (samples) =>
  medianOf(samples, ({ cpuMs: spent, requests, tokens }) =>
    spent === undefined ? undefined : (spent * 1000) / (requests ?? tokens),
  );

/** The values of rounds of requests that a table may show. */
export const requestValues = (samples) => ({
  perSecond: medianOf(samples, ({ per_second }) => per_second),
  cpuMsPer1k: cpuUsPerOne(samples),
  p50Ms: medianOf(samples, ({ latency_us }) => latency_us.p50 / 1000),
  p99Ms: medianOf(samples, ({ latency_us }) => latency_us.p99 / 1000),
  // Broken connections and responses other than 200.
  errors: samples.reduce(
    (sum, { requests, errors, statuses }) => sum + errors + requests - (statuses['200'] ?? 0),
    0,
  ),
});

/** Measures complete responses over a number of connections. `prepare(candidate)` is called before its warm-up. */
export function requestRounds(run, { names, workload, connections, cores, prepare }) {
  const { requestMs, warmupMs, rounds } = run.options.size;
  const load = ({ ports, request }, durationMs) =>
    run.load.requests({ ports, request, cores, connections, durationMs });
  return inRounds({
    run,
    names,
    workload,
    body: WHOLE_ANSWER,
    rounds,
    warmUp: async (candidate) => {
      await prepare?.(candidate);
      await sendUntilWarm((durationMs) => load(candidate, durationMs), warmupMs);
    },
    measure: (candidate) => load(candidate, requestMs),
  });
}

/**
 * Starts candidates, warms each up, measures them in turns and stops them. Gives
 * `[{ candidate, samples, refusal }]`, in the order of the names.
 */
export async function inRounds({ run, names = PEERS, workload, body, rounds, warmUp, measure }) {
  const candidates = await run.candidates.start(names, { workload, body });
  try {
    const able = candidates.filter(({ refusal }) => refusal === undefined);
    const samples = new Map(candidates.map(({ name }) => [name, []]));
    for (const candidate of able) await warmUp(candidate);
    await run.service.recorded();
    // Postgres has started new processes meanwhile.
    run.service.yieldToOthers();
    for (let round = 1; round <= rounds; round += 1) {
      run.progress(`${workload}: round ${round} of ${rounds}`);
      for (const candidate of able) {
        const cpuBefore = cpuOf(candidate);
        const sample = await measure(candidate);
        const cpuAfter = cpuOf(candidate);
        samples.get(candidate.name).push({
          ...sample,
          cpuMs: cpuBefore === undefined ? undefined : cpuAfter - cpuBefore,
        });
        // So that the next candidate is not slowed down by the recorder.
        await run.service.recorded();
      }
    }
    return candidates.map(({ name, label, refusal }) => ({
      name,
      label,
      refusal,
      samples: samples.get(name),
    }));
  } finally {
    await Promise.all(candidates.map((candidate) => candidate.stop()));
  }
}

function cpuOf({ pids }) {
  const each = pids.map(cpuMs);
  return each.includes(undefined) ? undefined : each.reduce((sum, value) => sum + value, 0);
}

/** The ratio of two candidates for one value; undefined if either is missing. */
export function ratio(rows, of, to, key) {
  const upper = rows.find(({ name }) => name === of)?.[key];
  const lower = rows.find(({ name }) => name === to)?.[key];
  return upper === undefined || lower === undefined || lower === 0 ? undefined : upper / lower;
}

/** Adds to every row the difference to the upstream without a proxy. */
export function withAdded(rows, key, addedKey) {
  const direct = rows.find(({ name }) => name === 'direct')?.[key];
  return rows.map((row) =>
    row.name === 'direct' || row[key] === undefined || direct === undefined
      ? row
      : { ...row, [addedKey]: row[key] - direct },
  );
}

/** Adds to every row the ratio to Portkey. */
export const againstPortkey = (rows, key) =>
  rows.map((row) => ({ ...row, versusPortkey: ratio(rows, row.name, 'portkey', key) }));

/** A row of the table, or a row with the reason why it was not measured. */
export const rowOf = ({ name, label, refusal, samples }, values) =>
  refusal === undefined
    ? { name, label, ...values(samples), spreadPercent: spreadPercent(samples) }
    : { name, label, refusal };

/**
 * The difference between the most and the least expensive round, without the quarter of the rounds at either end, which does not
 * affect the median; undefined for one round.
 */
function spreadPercent(samples) {
  const costs = samples
    .map(({ cpuMs: spent, requests, tokens }) => spent / (requests ?? tokens))
    .toSorted((a, b) => a - b);
  const leftOut = Math.floor(costs.length / 4);
  return samples.length < 2
    ? undefined
    : (costs[costs.length - 1 - leftOut] / costs[leftOut] - 1) * 100;
}

/** Whether the rounds of a row differ too much for a result. */
export const isUnsteady = ({ spreadPercent: spread }) => spread > SPREAD_PERCENT_MAX;

/** A goal for the ratio of two candidates, by default of ours to Portkey; undecided if one of them was not steady. */
export function comparison({ rows, of = 'gateway', to = 'portkey', key, ...goal }) {
  return {
    ...goal,
    unit: '×',
    measured: ratio(rows, of, to, key),
    isUndecided: rows.some((row) => [of, to].includes(row.name) && isUnsteady(row)),
  };
}
