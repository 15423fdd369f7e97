import { shareOf } from './error-share.ts';

test.each([
  { why: 'no request', requests: 0, errors: 0, share: undefined },
  { why: 'a request that failed', requests: 4, errors: 1, share: 0.25 },
  { why: 'nothing but refusals', requests: 2, errors: 2, share: 1 },
])('the share of errors with $why', ({ share, ...counts }) => {
  expect(shareOf(counts)).toBe(share);
});
