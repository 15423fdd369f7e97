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
  {
    why: 'a lost connection',
    failure: new UpstreamFailure('lost', { isBackendAtFault: true }),
    outcome: 'failure',
  },
  { why: '500', failure: answered(500), outcome: 'server_error' },
  { why: '503 with a retry-after', failure: answered(503, 9), outcome: 'server_error' },
  {
    why: 'an answer that cannot be read',
    failure: new UpstreamFailure('no', { isBackendAtFault: true, wasUnreadable: true }),
    outcome: 'server_error',
  },
  { why: '501', failure: answered(501), outcome: 'neutral' },
  { why: '400', failure: answered(400), outcome: 'request_refused' },
  { why: '404', failure: answered(404), outcome: 'request_refused' },
  {
    why: '404 for its model',
    failure: new UpstreamFailure('no', {
      isBackendAtFault: false,
      isModelMissing: true,
      status: 404,
    }),
    outcome: 'model_missing',
  },
  { why: '408', failure: answered(408), outcome: 'request_refused' },
  { why: '422', failure: answered(422), outcome: 'request_refused' },
  {
    why: 'an abort',
    failure: new UpstreamFailure('left', { isBackendAtFault: false }),
    outcome: 'neutral',
  },
  { why: 'another error', failure: new Error('a mistake in the code'), outcome: 'neutral' },
])('$why is for the backend: $outcome', ({ failure, outcome }) => {
  expect(outcomeOf(failure)).toBe(outcome);
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
