import type { Sent } from '../load/outcome.ts';
import { latencies, latencyLine } from './latency.ts';

const sent = (kind: Sent['kind'], ms: number, calls: Sent['calls']): Sent => ({
  ref: '',
  kind,
  ms,
  calls,
  outcome: { name: 'complete' },
});

/** A hundred requests of 1 to 100 ms; those of the management plane consist of a slow and a fast call. */
const SENT = Array.from({ length: 100 }, (_, index) => index + 1).map((ms) =>
  ms % 2 === 0
    ? sent('chat', ms, [{ name: 'chat', ms }])
    : sent('rpc-call', ms, [
        { name: 'keys.create', ms: ms - 1 },
        { name: 'keys.revoke', ms: 1 },
      ]),
);

test('each kind of request and each method has its latencies, apart from those of all', () => {
  expect(Object.fromEntries(latencies(SENT))).toEqual({
    'load: p50 ms': 51,
    'load: p95 ms': 96,
    'chat: p50 ms': 52,
    'chat: p95 ms': 96,
    'keys.create: p50 ms': 50,
    'keys.create: p95 ms': 94,
    'keys.revoke: p50 ms': 1,
    'keys.revoke: p95 ms': 1,
  });
  expect(latencyLine(SENT)).toBe('   p50/p95 ms: chat 52/96, keys.create 50/94, keys.revoke 1/1');
});
