import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCandidate } from '../candidates.mjs';
import { moveTo } from '../cores.mjs';
import { cpuMs, descendantsOf, programOf } from '../processes.mjs';
import { readMetrics, startService, startStandalone } from '../service.mjs';
import { WHOLE_ANSWER } from './chat-body.mjs';
import { comparison, ratio, sendUntilWarm } from './rounds.mjs';

const CONNECTIONS = 64;
const LAG_INTERVAL_MS = 500;
// Also in a quick run: the first requests of a process cost many times as much as later ones.
const WARMUP_MS_MIN = 30_000;
const EMPTY_WITHIN_MS = 120_000;
const EMPTY_SECONDS_MAX = 5;
const LAG = 'service_journal_lag';
const RECORDED = 'service_usage_recorded_total';

/**
 * What a request costs with everything that it causes: all processes share two cores at the same priority, and what is counted ends
 * when every request is recorded.
 */
export const allIn = {
  name: 'all-in',
  title: `everything on the same two cores until all is recorded, ${CONNECTIONS} connections`,
  columns: [
    { key: 'perSecond', label: 'requests/s', digits: 0 },
    { key: 'cpuMsPer1k', label: 'CPU ms per 1k', digits: 0 },
    { key: 'versusMetered', label: '× metered', digits: 2 },
    { key: 'server', label: 'server', digits: 0 },
    { key: 'recorder', label: 'recorder', digits: 0 },
    { key: 'postgres', label: 'Postgres', digits: 0 },
    { key: 'redis', label: 'Redis', digits: 0 },
    { key: 'lagMax', label: 'most waiting events', digits: 0 },
    { key: 'emptySeconds', label: 'recorded after s', digits: 1 },
    { key: 'missing', label: 'not recorded', digits: 0 },
    { key: 'errors', label: 'errors', digits: 0 },
  ],
  async run(run) {
    const opened = [];
    try {
      const candidates = await startAll(run, opened);
      const plain = [];
      for (const candidate of candidates) plain.push(await measure(run, candidate));
      const rows = plain.map((row) => ({
        ...row,
        versusMetered: ratio(plain, row.name, 'metered', 'cpuMsPer1k'),
      }));
      return { rows, goals: goalsOf(rows) };
    } finally {
      for (const close of opened.toReversed()) await close();
    }
  },
};

/** Two deployments of ours with stores of their own, and the peers. */
async function startAll(run, opened) {
  const { processes, options, cores, upstream } = run;
  const both = cores?.both;
  const folder = join(run.folder, 'all-in');
  await mkdir(folder, { mode: 0o711 });
  await moveAll(both, [upstream.pid]);
  opened.push(() => moveAll(cores?.load, [upstream.pid]));
  const service = await startService({
    processes,
    folder,
    options: { ...options, database: undefined, redis: undefined },
    cores: both === undefined ? undefined : { load: both },
    upstreamPort: upstream.port,
    isRecorderLast: false,
  });
  opened.push(() => service.stop());
  opened.push(() => service.recorder.stop());
  const gateway = await service.startApp('gateway', { on: both, workload: 'all-in' });
  opened.push(() => gateway.stop());
  const standalone = await startStandalone({
    processes,
    folder,
    options,
    cores: both,
    upstreamPort: upstream.port,
    workload: 'all-in',
  });
  opened.push(() => standalone.stop());
  await moveAll(both, service.storePids());
  const peers = await run.candidates.start(['metered', 'portkey'], {
    workload: 'all-in',
    body: WHOLE_ANSWER,
  });
  for (const peer of peers) {
    opened.push(() => peer.stop());
    await moveAll(both, peer.pids);
  }
  const ours = (name, label, key, child) =>
    startCandidate(
      { name, headers: { authorization: `Bearer ${key}` }, start: async () => [child] },
      { workload: 'all-in', body: WHOLE_ANSWER },
    ).then((candidate) => ({ ...candidate, label }));
  return [
    // The metered peer uses the Redis of the other workloads.
    ...peers.map((peer) => ({
      ...peer,
      counted: () => ({
        server: peer.pids,
        redis: peer.name === 'metered' ? run.service.storePids().filter(isRedis) : [],
      }),
    })),
    {
      ...(await ours('standalone', 'ours, all in one process', standalone.key, standalone)),
      recorderPort: standalone.port,
      counted: () => byProgram(descendantsOf(standalone.pid)),
    },
    {
      ...(await ours('split', 'ours, gateway and recorder apart', service.key, gateway)),
      recorderPort: service.recorder.port,
      counted: () => ({
        ...byProgram(service.storePids().flatMap(descendantsOf)),
        server: [gateway.pid],
        recorder: [service.recorder.pid],
      }),
    },
  ];
}

const isRedis = (pid) => programOf(pid).startsWith('redis-server');

/** The processes by what they are; all that are not stores are the server. */
function byProgram(pids) {
  const isPostgres = (pid) => programOf(pid).startsWith('postgres');
  return {
    postgres: pids.filter(isPostgres),
    redis: pids.filter(isRedis),
    server: pids.filter((pid) => !isPostgres(pid) && !isRedis(pid)),
  };
}

async function moveAll(cores, pids) {
  if (cores === undefined) return;
  for (const pid of pids.flatMap(descendantsOf)) await moveTo(cores, pid);
}

async function measure(run, candidate) {
  const { name, label, refusal } = candidate;
  if (refusal !== undefined) return { name, label, refusal };
  const { allInMs, warmupMs } = run.options.size;
  const load = (durationMs) =>
    run.load.requests({
      ports: candidate.ports,
      request: candidate.request,
      cores: run.cores?.both,
      connections: CONNECTIONS,
      durationMs,
    });
  run.progress(`all-in: ${label}`);
  await sendUntilWarm(load, Math.max(warmupMs, WARMUP_MS_MIN));
  await untilEmpty(candidate);
  const recordedBefore = await recordedBy(candidate);
  const cpuBefore = cpuOf(candidate);
  const lag = watchLag(candidate);
  const sample = await load(allInMs);
  const emptyMs = await untilEmpty(candidate);
  const lagMax = await lag.stop();
  const cpu = cpuOf(candidate);
  const served = sample.statuses['200'] ?? 0;
  const recorded = (await recordedBy(candidate)) - recordedBefore;
  const per1k = Object.fromEntries(
    Object.keys(cpu).map((what) => [what, ((cpu[what] - cpuBefore[what]) * 1000) / served]),
  );
  const isRecorded = candidate.recorderPort !== undefined;
  return {
    name,
    label,
    ...per1k,
    perSecond: sample.per_second,
    cpuMsPer1k: Object.values(per1k).reduce((sum, value) => sum + value, 0),
    lagMax,
    emptySeconds: isRecorded ? emptyMs / 1000 : undefined,
    // Requests that the end of the load has cut off are recorded as well.
    missing: isRecorded ? Math.max(0, served - recorded) : undefined,
    errors: sample.errors + sample.requests - served,
  };
}

function cpuOf({ counted }) {
  const sum = (pids) => pids.reduce((total, pid) => total + (cpuMs(pid) ?? 0), 0);
  return Object.fromEntries(Object.entries(counted()).map(([what, pids]) => [what, sum(pids)]));
}

async function recordedBy({ recorderPort }) {
  if (recorderPort === undefined) return 0;
  const [recorded] = await readMetrics(recorderPort, [RECORDED]);
  return recorded ?? 0;
}

/** Waits until every event is recorded; returns the milliseconds. */
async function untilEmpty({ recorderPort }) {
  if (recorderPort === undefined) return 0;
  const startedAt = performance.now();
  while (performance.now() - startedAt < EMPTY_WITHIN_MS) {
    const [lag] = await readMetrics(recorderPort, [LAG]);
    if (lag === 0) return performance.now() - startedAt;
    await sleep(LAG_INTERVAL_MS / 5);
  }
  throw new Error('the recorder does not catch up');
}

/** Looks at how many events wait, until it is stopped; then it returns the most that were seen. */
function watchLag({ recorderPort }) {
  const stopping = new AbortController();
  const watch = async () => {
    let most;
    while (recorderPort !== undefined && !stopping.signal.aborted) {
      const [lag] = await readMetrics(recorderPort, [LAG]);
      most = Math.max(most ?? 0, lag ?? 0);
      await sleep(LAG_INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    return most;
  };
  const watched = watch();
  return {
    stop() {
      stopping.abort();
      return watched;
    },
  };
}

const goalsOf = (rows) => [
  ...['standalone', 'split'].flatMap((name) => {
    const row = rows.find((each) => each.name === name);
    const { label } = row;
    return [
      comparison({
        rows,
        what: `CPU per request, ${label}, against the metered proxy`,
        atMost: 1.3,
        of: name,
        to: 'metered',
        key: 'cpuMsPer1k',
      }),
      {
        what: `time until all is recorded, ${label}`,
        atMost: EMPTY_SECONDS_MAX,
        unit: 's',
        measured: row.emptySeconds,
      },
      {
        what: `failed or not recorded requests, ${label}`,
        atMost: 0,
        unit: '',
        measured: row.refusal === undefined ? row.errors + row.missing : undefined,
      },
    ];
  }),
  comparison({
    rows,
    what: 'throughput of ours in one process against Portkey',
    atLeast: 12,
    of: 'standalone',
    key: 'perSecond',
  }),
];
