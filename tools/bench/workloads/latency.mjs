import {
  againstPortkey,
  comparison,
  medianOf,
  requestRounds,
  rowOf,
  withAdded,
} from './rounds.mjs';

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
    const cores = run.cores?.load;
    const measured = await requestRounds(run, { workload: 'latency', connections: 1, cores });
    const plain = measured.map((candidate) =>
      rowOf(candidate, (samples) => ({
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
          key: 'addedUs',
        }),
      ],
    };
  },
};
