import { rssMb } from '../processes.mjs';
import { streamedAnswer } from './chat-body.mjs';
import { againstPortkey, comparison, inRounds, isUnsteady, rowOf, withAdded } from './rounds.mjs';
import { streamValues, warmStreams } from './streams.mjs';

const STREAMS = 1000;
const INTERVAL_MS = 100;
// Starting all at once would measure the burst of requests instead.
const RAMP_MS = 1000;
const TIMEOUT_MS = 45_000;
const SAMPLE_MS = 250;
// Each takes long; three are enough for a median.
const ROUNDS_MAX = 3;
const FULL_RATE = 0.99;

/** Whether a thousand streams keep their rate. */
export const manyStreams = {
  name: 'many-streams',
  title: `${STREAMS} streams, a token every ${INTERVAL_MS} ms: 10,000 tokens/s`,
  columns: [
    { key: 'keptPercent', label: 'tokens in time %', digits: 1 },
    { key: 'failed', label: 'failed streams', digits: 0 },
    { key: 'firstMs', label: 'first token p50 ms', digits: 2 },
    { key: 'addedMs', label: 'added ms', digits: 2 },
    { key: 'versusPortkey', label: '× Portkey', digits: 3 },
    { key: 'cpuUsPerToken', label: 'CPU µs per token', digits: 1 },
    { key: 'rssMb', label: 'peak RSS MB', digits: 0 },
  ],
  async run(run) {
    const tokens = run.options.size.manyTokens;
    const load = ({ ports, request }) =>
      run.load.streams({
        ports,
        request,
        cores: run.cores?.load,
        connections: STREAMS,
        tokens,
        intervalMs: INTERVAL_MS,
        rampMs: RAMP_MS,
        timeoutMs: TIMEOUT_MS,
      });
    const measured = await inRounds({
      run,
      workload: 'many-streams',
      body: streamedAnswer(tokens, INTERVAL_MS),
      rounds: Math.min(run.options.size.rounds, ROUNDS_MAX),
      warmUp: (candidate) => warmStreams(run, candidate),
      measure: (candidate) => withPeakRss(candidate, () => load(candidate)),
    });
    const plain = measured.map((candidate) => rowOf(candidate, streamValues));
    const rows = againstPortkey(withAdded(plain, 'firstMs', 'addedMs'), 'addedMs');
    return { rows, goals: goalsOf(rows) };
  },
};

function goalsOf(rows) {
  const ours = rows.find(({ name }) => name === 'gateway');
  return [
    { what: 'failed streams', atMost: 0, unit: '', measured: ours?.failed },
    {
      what: 'tokens in time',
      atLeast: FULL_RATE * 100,
      unit: '%',
      measured: ours?.keptPercent,
      isUndecided: ours !== undefined && isUnsteady(ours),
    },
    comparison({
      rows,
      what: 'added first-token delay against Portkey',
      atMost: 0.1,
      key: 'addedMs',
    }),
    { what: 'peak memory', atMost: 250, unit: 'MB', measured: ours?.rssMb },
  ];
}

async function withPeakRss({ pids }, work) {
  let peak = 0;
  const look = () => {
    peak = Math.max(
      peak,
      pids.reduce((sum, pid) => sum + (rssMb(pid) ?? 0), 0),
    );
  };
  const timer = setInterval(look, SAMPLE_MS);
  try {
    return { ...(await work()), rssMb: peak };
  } finally {
    clearInterval(timer);
  }
}
