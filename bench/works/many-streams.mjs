import { rssMb } from '../processes.mjs';
import { streamedAnswer } from './chat-body.mjs';
import { withAdded } from './latency.mjs';
import { againstPortkey, comparison, inRounds, isUnsteady, medianOf, rowOf } from './rounds.mjs';
import { warmStreams } from './streams.mjs';

const STREAMS = 1000;
const INTERVAL_MS = 100;
// Starting all at once would measure the burst of requests instead.
const RAMP_MS = 1000;
const TIMEOUT_MS = 45_000;
const SAMPLE_MS = 250;
// Each takes long; three are enough for a median.
const ROUNDS_MAX = 3;
const FULL_RATE = 0.99;
const NAMES = ['direct', 'nginx', 'bare', 'metered', 'portkey', 'gateway'];

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
    const load = ({ ports, request }, connections) =>
      run.load.streams({
        ports,
        request,
        cores: run.cores?.load,
        connections,
        tokens,
        intervalMs: INTERVAL_MS,
        rampMs: RAMP_MS,
        timeoutMs: TIMEOUT_MS,
      });
    const measured = await inRounds({
      run,
      names: NAMES,
      work: 'many-streams',
      body: streamedAnswer(tokens, INTERVAL_MS),
      rounds: Math.min(run.options.size.rounds, ROUNDS_MAX),
      warmUp: (contestant) => warmStreams(run, contestant),
      measure: (contestant) => withPeakRss(contestant, () => load(contestant, STREAMS)),
    });
    const plain = measured.map((contestant) => rowOf(contestant, valuesOf));
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
      of: 'gateway',
      to: 'portkey',
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

function valuesOf(samples) {
  return {
    keptPercent: medianOf(samples, ({ in_time }) => in_time * 100),
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
    firstMs: medianOf(samples, ({ first_token_us }) => first_token_us.p50 / 1000),
    cpuUsPerToken: medianOf(samples, ({ cpuMs, tokens }) =>
      cpuMs === undefined ? undefined : (cpuMs * 1000) / tokens,
    ),
    rssMb: medianOf(samples, (sample) => sample.rssMb),
  };
}
