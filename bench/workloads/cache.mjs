import { cpuMs, fetchAnew } from '../processes.mjs';
import { HASTY_STREAM, WHOLE_ANSWER } from './chat-body.mjs';
import { quantile, requestValues, sendUntilWarm } from './rounds.mjs';

const CONNECTIONS = 64;
const CHEAPER_MIN = 5;
/** In the body of a miss, replaced by another number in each request, so that it was never asked before. */
const NUMBER = '0000000000000000';

const numbered = (body) => ({
  ...body,
  messages: [...body.messages, { role: 'user', content: NUMBER }],
});

/** What an answer of the exact cache costs, against one of an upstream that answers at once. */
export const cache = {
  name: 'cache',
  title: `the exact cache, ${CONNECTIONS} connections, one process on one core`,
  columns: [
    { key: 'cpuMsPer1k', label: 'CPU ms per 1k', digits: 0 },
    { key: 'middleHalf', label: 'middle half' },
    { key: 'perSecond', label: 'requests/s', digits: 0 },
    { key: 'p50Ms', label: 'p50 ms', digits: 2 },
    { key: 'errors', label: 'errors', digits: 0 },
  ],
  async run(run) {
    const { service, cores } = run;
    const { key, cachedKey } = service;
    const gateway = await service.startApp('gateway', { on: cores?.measured, workload: 'cache' });
    try {
      const samples = await measure(run, gateway, [
        { name: 'hit', key: cachedKey, state: 'hit', body: numbered(WHOLE_ANSWER) },
        { name: 'miss', key: cachedKey, state: 'miss', body: numbered(WHOLE_ANSWER), isNew: true },
        { name: 'without the cache', key, state: null, body: numbered(WHOLE_ANSWER) },
        { name: 'stream, hit', key: cachedKey, state: 'hit', body: numbered(HASTY_STREAM) },
        {
          name: 'stream, miss',
          key: cachedKey,
          state: 'miss',
          body: numbered(HASTY_STREAM),
          isNew: true,
        },
      ]);
      return {
        rows: [...samples].map(([name, rounds]) => rowOf(name, rounds)),
        goals: [
          goal('CPU of a miss against a hit', samples.get('miss'), samples.get('hit')),
          goal(
            'the same for streams of 10 tokens',
            samples.get('stream, miss'),
            samples.get('stream, hit'),
          ),
        ],
      };
    } finally {
      await gateway.stop();
    }
  },
};

const costOf = ({ cpuMs: spent, requests }) => (spent * 1000) / requests;

const halfOf = (values, digits) =>
  [0.25, 0.75].map((share) => quantile(values, share).toFixed(digits)).join('–');

const rowOf = (name, rounds) => ({
  name,
  label: name,
  ...requestValues(rounds),
  middleHalf: halfOf(rounds.map(costOf), 0),
});

/** By the ratios of rounds that followed each other. */
function goal(what, misses, hits) {
  const ratios = misses.map((miss, round) => costOf(miss) / costOf(hits[round]));
  return {
    what: `${what} (middle half ${halfOf(ratios, 2)})`,
    atLeast: CHEAPER_MIN,
    unit: '×',
    measured: quantile(ratios, 0.5),
  };
}

/** In turns, in one process. Only its CPU counts, so that nothing waits for the recorder. */
async function measure(run, { port, pid }, kinds) {
  const { requestMs, warmupMs, rounds } = run.options.size;
  const load = ({ key, body, isNew }, durationMs) =>
    run.load.requests({
      ports: [port],
      request: {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}` },
        body,
      },
      cores: run.cores?.load,
      connections: CONNECTIONS,
      durationMs,
      ...(isNew === true ? { number: NUMBER } : {}),
    });
  const samples = new Map(kinds.map(({ name }) => [name, []]));
  for (const kind of kinds.toReversed()) {
    await sendUntilWarm((durationMs) => load(kind, durationMs), warmupMs);
    await assertState(port, kind);
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const kind of kinds) {
      run.progress(`cache: ${kind.name}, round ${round} of ${rounds}`);
      const cpuBefore = cpuMs(pid);
      const sample = await load(kind, requestMs);
      samples.get(kind.name).push({ ...sample, cpuMs: cpuMs(pid) - cpuBefore });
    }
  }
  return samples;
}

async function assertState(port, { key, body, state, isNew }) {
  const text = JSON.stringify(body);
  const response = await fetchAnew(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: isNew === true ? text.replace(NUMBER, String(performance.now())) : text,
  });
  await response.text();
  const found = response.headers.get('x-service-cache');
  if (found !== state) throw new Error(`the cache says ${found} instead of ${state}`);
}
