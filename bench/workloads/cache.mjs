import { cpuMs, fetchAnew } from '../processes.mjs';
import { WHOLE_ANSWER } from './chat-body.mjs';
import { ratio, requestValues, sendUntilWarm } from './rounds.mjs';

const CONNECTIONS = 64;
const CHEAPER_MIN = 5;

/** What an answer of the exact cache costs, against one of an upstream that answers at once. */
export const cache = {
  name: 'cache',
  title: `the exact cache, ${CONNECTIONS} connections, one process on one core`,
  columns: [
    { key: 'cpuMsPer1k', label: 'CPU ms per 1k', digits: 0 },
    { key: 'perSecond', label: 'requests/s', digits: 0 },
    { key: 'p50Ms', label: 'p50 ms', digits: 2 },
    { key: 'errors', label: 'errors', digits: 0 },
  ],
  async run(run) {
    const { service, cores } = run;
    const gateway = await service.startApp('gateway', { on: cores?.measured, workload: 'cache' });
    try {
      const rows = await measure(run, gateway, [
        { name: 'hit', key: service.cachedKey, state: 'hit', headers: {} },
        // What a request does whose answer is not stored yet, and is stored then.
        {
          name: 'miss',
          key: service.cachedKey,
          state: 'miss',
          headers: { 'x-service-cache': 'no-cache' },
        },
        { name: 'without the cache', key: service.key, state: null, headers: {} },
      ]);
      return {
        rows,
        goals: [
          {
            what: 'CPU of a miss against a hit',
            atLeast: CHEAPER_MIN,
            unit: '×',
            measured: ratio(rows, 'miss', 'hit', 'cpuMsPer1k'),
          },
        ],
      };
    } finally {
      await gateway.stop();
    }
  },
};

/** In turns, in one process. Only its CPU counts, so that nothing waits for the recorder. */
async function measure(run, { port, pid }, kinds) {
  const { requestMs, warmupMs, rounds } = run.options.size;
  const load = ({ key, headers }, durationMs) =>
    run.load.requests({
      ports: [port],
      request: {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}`, ...headers },
        body: WHOLE_ANSWER,
      },
      cores: run.cores?.load,
      connections: CONNECTIONS,
      durationMs,
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
  return kinds.map(({ name }) => ({ name, label: name, ...requestValues(samples.get(name)) }));
}

async function assertState(port, { key, headers, state }) {
  const response = await fetchAnew(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      ...headers,
    },
    body: JSON.stringify(WHOLE_ANSWER),
  });
  await response.text();
  const found = response.headers.get('x-service-cache');
  if (found !== state) throw new Error(`the cache says ${found} instead of ${state}`);
}
