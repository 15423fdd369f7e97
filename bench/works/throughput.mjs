import { WHOLE_ANSWER } from './chat-body.mjs';
import {
  againstPortkey,
  comparison,
  inRounds,
  medianOf,
  ratio,
  rowOf,
  sendUntilWarm,
} from './rounds.mjs';

const CONNECTIONS = 64;
const NAMES = ['direct', 'nginx', 'bare', 'metered', 'portkey', 'gateway'];

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
    const { requestMs, warmupMs, rounds } = run.options.size;
    const load = ({ ports, request }, durationMs) =>
      run.load.requests({
        ports,
        request,
        cores: run.cores?.load,
        connections: CONNECTIONS,
        durationMs,
      });
    const measured = await inRounds({
      run,
      names: NAMES,
      work: 'throughput',
      body: WHOLE_ANSWER,
      rounds,
      warmUp: (contestant) => sendUntilWarm((durationMs) => load(contestant, durationMs), warmupMs),
      measure: (contestant) => load(contestant, requestMs),
    });
    const plain = measured.map((contestant) => rowOf(contestant, valuesOf));
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
          of: 'gateway',
          to: 'portkey',
          key: 'perSecond',
        }),
        comparison({
          rows,
          what: 'throughput against node:http + undici metered',
          atLeast: 0.8,
          of: 'gateway',
          to: 'metered',
          key: 'perSecond',
        }),
      ],
    };
  },
};

function valuesOf(samples) {
  return {
    perSecond: medianOf(samples, ({ per_second }) => per_second),
    cpuMsPer1k: medianOf(samples, ({ cpuMs, requests }) =>
      cpuMs === undefined ? undefined : (cpuMs / requests) * 1000,
    ),
    p50Ms: medianOf(samples, ({ latency_us }) => latency_us.p50 / 1000),
    p99Ms: medianOf(samples, ({ latency_us }) => latency_us.p99 / 1000),
    errors: samples.reduce((sum, sample) => sum + errorsOf(sample), 0),
  };
}

/** Broken connections and responses other than 200. */
export function errorsOf({ requests, errors, statuses }) {
  return errors + requests - (statuses['200'] ?? 0);
}
