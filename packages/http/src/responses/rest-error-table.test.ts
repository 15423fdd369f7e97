import { REST_ERRORS, type RestError } from './rest-error-table.ts';

const unavailable = Object.entries<RestError>(REST_ERRORS).filter(
  ([, { status }]) => status === 503,
);

test.each(unavailable)('%s says when to try again', (_code, { retryAfterSecs }) => {
  expect(retryAfterSecs).toBeGreaterThanOrEqual(1);
});
