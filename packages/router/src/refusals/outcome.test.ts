import { UpstreamFailure } from '../registry/upstream-failure.ts';
import { outcomeOf } from './outcome.ts';

const answered = (status: number, retryAfterSecs?: number): UpstreamFailure =>
  new UpstreamFailure('no', {
    isBackendAtFault: status >= 500 || status === 429,
    status,
    retryAfterSecs,
    upstream: { status, code: 'why', message: 'about your prompt' },
  });

test.each([
  { why: 'a lost connection', failure: new UpstreamFailure('lost', { isBackendAtFault: true }) },
  { why: '500', failure: answered(500) },
  { why: '503 with a retry-after', failure: answered(503, 9) },
])('$why counts in the circuit breaker', ({ failure }) => {
  expect(outcomeOf(failure)).toBe('failure');
});

test.each([
  { why: '400', failure: answered(400) },
  { why: '404', failure: answered(404) },
  { why: '408', failure: answered(408) },
  { why: '422', failure: answered(422) },
  { why: 'an abort', failure: new UpstreamFailure('left', { isBackendAtFault: false }) },
  { why: 'another error', failure: new Error('a mistake in the code') },
])('$why says nothing about the backend', ({ failure }) => {
  expect(outcomeOf(failure)).toBe('neutral');
});

test.each([
  { why: 'for its retry-after', failure: answered(429, 7), forMs: 7_000 },
  { why: 'for 5 s where there is none', failure: answered(429), forMs: 5_000 },
  { why: 'for at most 60 s', failure: answered(429, 3600), forMs: 60_000 },
  { why: 'not at all if it may be tried at once', failure: answered(429, 0), forMs: 0 },
])('429 cools the model $why', ({ failure, forMs }) => {
  expect(outcomeOf(failure)).toEqual({ kind: 'rate_limited', forMs });
});

test.each([
  { status: 401, forMs: 600_000, isSuspicion: false },
  { status: 403, forMs: 60_000, isSuspicion: true },
])(
  '$status is about the key, 403 perhaps not, and its reason does not quote the upstream',
  ({ status, ...held }) => {
    expect(outcomeOf(answered(status))).toEqual({
      kind: 'key_refused',
      reason: `the upstream answered ${status} (why) to a request; check the api_key of the backend`,
      ...held,
    });
  },
);
