import { WHOLE_ANSWER } from './chat-body.mjs';
import { againstPortkey, comparison, inRounds, medianOf, rowOf, sendUntilWarm } from './rounds.mjs';

const NAMES = ['direct', 'nginx', 'bare', 'metered', 'portkey', 'gateway'];

/** The latency that is added to one request without other load. */
export const latency = {
  name: 'latency',
  title: 'one connection, whole answers',
  columns: [
    { key: 'p50Us', label: 'p50 µs', digits: 0 },
    { key: 'addedUs', label: 'added p50 µs', digits: 0 },
    { key: 'versusPortkey', label: '× Portkey', digits: 2 },
    { key: 'p99Us', label: 'p99 µs', digits: 0 },
  ],
  async run(run) {
    const { requestMs, warmupMs, rounds } = run.options.size;
    const load = ({ ports, request }, durationMs) =>
      run.load.requests({ ports, request, cores: run.cores?.load, connections: 1, durationMs });
    const measured = await inRounds({
      run,
      names: NAMES,
      work: 'latency',
      body: WHOLE_ANSWER,
      rounds,
      warmUp: (contestant) => sendUntilWarm((durationMs) => load(contestant, durationMs), warmupMs),
      measure: (contestant) => load(contestant, requestMs),
    });
    const plain = measured.map((contestant) =>
      rowOf(contestant, (samples) => ({
        p50Us: medianOf(samples, ({ latency_us }) => latency_us.p50),
        p99Us: medianOf(samples, ({ latency_us }) => latency_us.p99),
      })),
    );
    const rows = againstPortkey(withAdded(plain, 'p50Us', 'addedUs'), 'addedUs');
    return {
      rows,
      goals: [
        comparison({
          rows,
          what: 'added p50 at one connection against Portkey',
          atMost: 0.2,
          of: 'gateway',
          to: 'portkey',
          key: 'addedUs',
        }),
      ],
    };
  },
};

/** Adds to every row the difference to the upstream without a proxy. */
export function withAdded(rows, key, addedKey) {
  const direct = rows.find(({ name }) => name === 'direct')?.[key];
  return rows.map((row) =>
    row.name === 'direct' || row[key] === undefined || direct === undefined
      ? row
      : { ...row, [addedKey]: row[key] - direct },
  );
}
