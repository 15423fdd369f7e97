import { setTimeout as sleep } from 'node:timers/promises';
import { sendInLanes, sendRequests, sendStreams, type Lanes, type Streams } from '../load/loads.ts';
import { startUpstream, streamedModel, type Upstream } from '../load/upstream.ts';
import type { Cores } from '../measure/cores.ts';
import { cpuMs, memoryMb, programOf, wakes } from '../measure/proc.ts';
import type { Column, Row } from '../measure/table.ts';
import { chatOf, direct, metered, ours, portkey, type Candidate } from './candidates.ts';
import { inTurns, warmAll, withAdded, withCandidates, type Size } from './rounds.ts';

interface Workload {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  run(cores: Cores, size: Size): Promise<readonly Row[]>;
}

const CPU: Column = { key: 'cpuUs', label: 'CPU µs each', digits: 0 };
const FAILED: Column = { key: 'failed', label: 'failed', digits: 0 };
const FAR_MS = 20;
const WARM_MODEL = streamedModel(10, 0);

/** Calls `work` with an upstream that serves `bench` and these models. */
async function withUpstream<Result>(
  models: readonly string[],
  delayMs: number,
  work: (setting: {
    readonly upstream: Upstream;
    readonly models: readonly string[];
  }) => Promise<Result>,
): Promise<Result> {
  const all = ['bench', WARM_MODEL, ...models];
  const upstream = await startUpstream(all, delayMs);
  try {
    return await work({ upstream, models: all });
  } finally {
    upstream.close();
  }
}

/** Whole answers over a number of connections. */
const requests = (name: string, connections: number): Workload => ({
  name,
  title: `whole answers, ${connections === 1 ? 'one connection' : `${connections} connections`}`,
  columns: [
    { key: 'perSecond', label: 'a second', digits: 0 },
    { key: 'p50Ms', label: 'p50 ms', digits: 2 },
    { key: 'addedMs', label: 'added p50', digits: 2 },
    { key: 'p99Ms', label: 'p99 ms', digits: 1 },
    { key: 'addedP99Ms', label: 'added p99', digits: 2 },
    CPU,
    FAILED,
  ],
  run: (cores, size) =>
    withUpstream([], 0, (found) => {
      const setting = { ...found, cores: cores.measured };
      const all = [direct(setting), metered(setting), portkey(setting), ours(setting)];
      return withCandidates(all, async (candidates) => {
        await warmAll(candidates, size);
        const rows = await inTurns(candidates, size.rounds, (candidate) =>
          sendRequests(chatOf(candidate), { connections, durationMs: size.requestMs }),
        );
        return withAdded(withAdded(rows, 'p50Ms', 'addedMs'), 'p99Ms', 'addedP99Ms');
      });
    }),
});

/** Streams at a pace that a gateway must keep. */
const streams = (name: string, load: Streams, roundsMax: number): Workload => ({
  name,
  title: `${load.count} streams of ${load.tokens} tokens, one every ${load.intervalMs} ms`,
  columns: [
    { key: 'inTimePercent', label: 'tokens in time %', digits: 1 },
    { key: 'firstMs', label: 'first token p50 ms', digits: 2 },
    { key: 'addedMs', label: 'added', digits: 2 },
    { key: 'gapP99Ms', label: 'gap p99 ms', digits: 1 },
    { ...CPU, label: 'CPU µs a token' },
    FAILED,
  ],
  run: (cores, size) => {
    const model = streamedModel(load.tokens, load.intervalMs);
    return withUpstream([model], 0, (found) => {
      const setting = { ...found, cores: cores.measured };
      const all = [direct(setting), metered(setting), portkey(setting), ours(setting)];
      return withCandidates(all, async (candidates) => {
        await warmAll(candidates, size, WARM_MODEL);
        const rounds = Math.min(size.rounds, roundsMax);
        const rows = await inTurns(candidates, rounds, (candidate) =>
          sendStreams(chatOf(candidate, model), load),
        );
        return withAdded(rows, 'firstMs', 'addedMs');
      });
    });
  },
});

/** An upstream that is far away: does a gateway keep its connections, and how much later is its first token? */
const far = (name: string, title: string, load: Lanes, model: string): Workload => ({
  name,
  title: `${title}, an upstream ${FAR_MS} ms away`,
  columns: [
    { key: 'p50Ms', label: `${load.isStreamed ? 'first token' : 'answer'} p50 ms`, digits: 2 },
    { key: 'addedMs', label: 'added p50', digits: 2 },
    { key: 'p99Ms', label: 'p99 ms', digits: 2 },
    { key: 'addedP99Ms', label: 'added p99', digits: 2 },
    { key: 'opened', label: 'connections opened later', digits: 0 },
    FAILED,
  ],
  run: (cores, size) =>
    withUpstream([model], FAR_MS, (found) => {
      const setting = { ...found, cores: cores.measured };
      const all = [direct(setting), metered(setting), portkey(setting), ours(setting)];
      return withCandidates(all, async (candidates) => {
        // The round trips limit how many requests a second warm it up.
        await warmAll(candidates, { ...size, warmRequests: size.warmRequests / 10 }, WARM_MODEL);
        const rows = await inTurns(candidates, Math.min(size.rounds, 3), async (candidate) => {
          let opened = 0;
          const sample = await sendInLanes(chatOf(candidate, model), load, () => {
            opened = found.upstream.connections();
          });
          return { ...sample, opened: found.upstream.connections() - opened };
        });
        return withAdded(withAdded(rows, 'p50Ms', 'addedMs'), 'p99Ms', 'addedP99Ms');
      });
    }),
});

/** What a service costs that nobody uses. */
const idle: Workload = {
  name: 'idle',
  title: 'idle, after a pause',
  columns: [
    { key: 'corePercent', label: '% of a core', digits: 2 },
    { key: 'wakes', label: 'wakes a second', digits: 1 },
    { key: 'memoryMb', label: 'memory MB', digits: 0 },
  ],
  run: (cores, size) =>
    withUpstream([], 0, (found) => {
      const setting = { ...found, cores: cores.both };
      return withCandidates([metered(setting), ours(setting)], async (candidates) => {
        // The metered proxy is idle at once; our service still fills caches in its first minute.
        await sleep(size.idleMs);
        const rows: Row[] = [];
        for (const candidate of candidates) rows.push(...(await watchIdle(candidate, size.idleMs)));
        return rows;
      });
    }),
};

/** A row for all processes of a candidate, and one for those of each program if there are several. */
async function watchIdle(candidate: Candidate, forMs: number): Promise<readonly Row[]> {
  const all = candidate.pids();
  const programs = [...new Set(all.map(programOf))];
  const byProgram = programs.map(
    (program) => [program, all.filter((pid) => programOf(pid) === program)] as const,
  );
  const groups = [['', all] as const, ...(programs.length > 1 ? byProgram : [])];
  const look = () => groups.map(([, pids]) => ({ cpuMs: cpuMs(pids), wakes: wakes(pids) }));
  const before = look();
  await sleep(forMs);
  const after = look();
  return groups.map(([program, pids], index) => ({
    name: `${candidate.name}${program}`,
    label: program === '' ? candidate.label : `– ${program}`,
    values: {
      corePercent: (100 * ((after[index]?.cpuMs ?? NaN) - (before[index]?.cpuMs ?? NaN))) / forMs,
      wakes: (1000 * ((after[index]?.wakes ?? NaN) - (before[index]?.wakes ?? NaN))) / forMs,
      memoryMb: memoryMb(pids),
    },
  }));
}

const CONNECTIONS = 64;

/** What a second process gains where everything shares two cores, the load too. */
const twoProcesses: Workload = {
  name: 'two-processes',
  title: `whole answers, ${CONNECTIONS} connections, one process and two on two cores with the load`,
  columns: [
    { key: 'perSecond', label: 'a second', digits: 0 },
    { key: 'p99Ms', label: 'p99 ms', digits: 1 },
    { key: 'gain', label: 'gain of the second', digits: 2 },
    CPU,
    FAILED,
  ],
  run: (cores, size) =>
    withUpstream([], 0, (found) => {
      const setting = { ...found, cores: cores.both };
      const all = [
        metered(setting),
        metered(setting, 2),
        ours(setting),
        ours(setting, { processes: 2 }),
      ];
      return withCandidates(all, async (candidates) => {
        await warmAll(candidates, size);
        const rows = await inTurns(candidates, size.rounds, (candidate) =>
          sendRequests(chatOf(candidate), {
            connections: CONNECTIONS,
            durationMs: size.requestMs,
          }),
        );
        return rows.map((row) => {
          const one = rows.find(({ name }) => `${name}-2` === row.name)?.values['perSecond'];
          const gain = (row.values['perSecond'] ?? NaN) / (one ?? NaN);
          return { ...row, values: { ...row.values, gain } };
        });
      });
    }),
};

const SEQUENCE: Lanes = { lanes: 1, requests: 50, pauseMs: 20, isStreamed: true };

/** All workloads, in the order in which they run. */
export const WORKLOADS: readonly Workload[] = [
  requests('throughput', CONNECTIONS),
  requests('one', 1),
  streams('streams', { count: 200, tokens: 50, intervalMs: 20, rampMs: 1000 }, Infinity),
  streams('many-streams', { count: 1000, tokens: 100, intervalMs: 100, rampMs: 1000 }, 3),
  far('far', 'one stream after the other', SEQUENCE, streamedModel(10, 5)),
  far(
    'far-late',
    'one stream after the other, whose body ends 5 ms after `[DONE]`',
    SEQUENCE,
    streamedModel(10, 5, true),
  ),
  far(
    'far-ten',
    'ten streams at a time',
    { ...SEQUENCE, lanes: 10, requests: 200 },
    streamedModel(10, 5),
  ),
  far(
    'far-answers',
    'one whole answer after the other',
    { ...SEQUENCE, isStreamed: false },
    'bench',
  ),
  idle,
  twoProcesses,
];
