import { HASTY_STREAM, streamedAnswer } from './chat-body.mjs';
import {
  againstPortkey,
  comparison,
  cpuUsPerOne,
  inRounds,
  medianOf,
  rowOf,
  sendUntilWarm,
  withAdded,
} from './rounds.mjs';

const STREAMS = 200;
const TOKENS = 50;
const INTERVAL_MS = 20;
// Streams start one after the other, over the time that each of them takes: starting all at once would measure the burst of requests,
// where even a bare proxy needs some of the allowed time.
const RAMP_MS = TOKENS * INTERVAL_MS;
const TIMEOUT_MS = 20_000;
const WARM_CONNECTIONS = 64;

/** The delay of the first token of a stream with a fixed rate, and the cost of a token. */
export const streams = {
  name: 'streams',
  title: `${STREAMS} streams, one more every ${RAMP_MS / STREAMS} ms, ${TOKENS} tokens ${INTERVAL_MS} ms apart`,
  columns: [
    { key: 'firstMs', label: 'first token p50 ms', digits: 2 },
    { key: 'addedMs', label: 'added ms', digits: 2 },
    { key: 'versusPortkey', label: '× Portkey', digits: 3 },
    { key: 'firstP99Ms', label: 'first token p99 ms', digits: 1 },
    { key: 'cpuUsPerToken', label: 'CPU µs per token', digits: 1 },
    { key: 'failed', label: 'failed', digits: 0 },
  ],
  async run(run) {
    const load = ({ ports, request }) =>
      run.load.streams({
        ports,
        request,
        cores: run.cores?.load,
        connections: STREAMS,
        tokens: TOKENS,
        intervalMs: INTERVAL_MS,
        rampMs: RAMP_MS,
        timeoutMs: TIMEOUT_MS,
      });
    const measured = await inRounds({
      run,
      workload: 'streams',
      body: streamedAnswer(TOKENS, INTERVAL_MS),
      rounds: run.options.size.rounds,
      warmUp: async (candidate) => {
        await warmStreams(run, candidate);
        await load(candidate);
      },
      measure: load,
    });
    const plain = measured.map((candidate) => rowOf(candidate, streamValues));
    const rows = againstPortkey(withAdded(plain, 'firstMs', 'addedMs'), 'addedMs');
    return {
      rows,
      goals: [
        comparison({
          rows,
          what: 'added first-token delay against Portkey',
          atMost: 0.03,
          key: 'addedMs',
        }),
        comparison({
          rows,
          what: 'CPU per token against Portkey',
          atMost: 0.6,
          key: 'cpuUsPerToken',
        }),
      ],
    };
  },
};

/** Sends streams without delays until the code that forwards tokens is compiled. */
export function warmStreams(run, { ports, request }) {
  const hasty = { ...request, body: HASTY_STREAM };
  return sendUntilWarm(
    (durationMs) =>
      run.load.requests({
        ports,
        request: hasty,
        cores: run.cores?.load,
        connections: WARM_CONNECTIONS,
        durationMs,
      }),
    run.options.size.warmupMs,
  );
}

/** The values of rounds of streams that a table may show. */
export const streamValues = (samples) => ({
  keptPercent: medianOf(samples, ({ in_time }) => in_time * 100),
  firstMs: medianOf(samples, ({ first_token_us }) => first_token_us.p50 / 1000),
  firstP99Ms: medianOf(samples, ({ first_token_us }) => first_token_us.p99 / 1000),
  cpuUsPerToken: cpuUsPerOne(samples),
  failed: samples.reduce((sum, { failed }) => sum + failed, 0),
  rssMb: medianOf(samples, ({ rssMb }) => rssMb),
});
