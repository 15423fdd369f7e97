import {
  againstPortkey,
  comparison,
  ratio,
  requestRounds,
  requestValues,
  rowOf,
} from './rounds.mjs';

const CONNECTIONS = 64;

/** How many complete responses one process forwards per second. */
export const throughput = {
  name: 'throughput',
  title: `${CONNECTIONS} connections, whole answers, one process on one core`,
  columns: [
    { key: 'perSecond', label: 'requests/s', digits: 0 },
    { key: 'versusPortkey', label: '× Portkey', digits: 1 },
    { key: 'cpuMsPer1k', label: 'CPU ms per 1k', digits: 0 },
    { key: 'lessCpu', label: '× less CPU than Portkey', digits: 1 },
    { key: 'p50Ms', label: 'p50 ms', digits: 2 },
    { key: 'p99Ms', label: 'p99 ms', digits: 2 },
    { key: 'errors', label: 'errors', digits: 0 },
  ],
  async run(run) {
    const measured = await requestRounds(run, {
      workload: 'throughput',
      connections: CONNECTIONS,
      cores: run.cores?.load,
    });
    const plain = measured.map((candidate) => rowOf(candidate, requestValues));
    // If other work disturbs the machine, CPU time is more reliable.
    const rows = againstPortkey(plain, 'perSecond').map((row) => ({
      ...row,
      lessCpu: ratio(plain, 'portkey', row.name, 'cpuMsPer1k'),
    }));
    return {
      rows,
      goals: [
        comparison({
          rows,
          what: 'throughput against Portkey bare',
          atLeast: 10,
          key: 'perSecond',
        }),
        comparison({
          rows,
          what: 'throughput against node:http + undici metered',
          atLeast: 0.8,
          to: 'metered',
          key: 'perSecond',
        }),
      ],
    };
  },
};
