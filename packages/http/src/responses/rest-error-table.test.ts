import { openAiError, REST_ERRORS, type RestError } from './rest-error-table.ts';

const unavailable = Object.entries<RestError>(REST_ERRORS).filter(
  ([, { status }]) => status === 503,
);

test.each(unavailable)('%s says when to try again', (_code, { retryAfterSecs }) => {
  expect(retryAfterSecs).toBeGreaterThanOrEqual(1);
});

test.each([
  ['missing_fields', 400, 'missing_fields'],
  ['not_found', 404, 'not_found'],
  ['model_not_found', 404, 'model_not_found'],
  ['authentication_required', 401, 'invalid_api_key'],
] as const)(
  "%s has the type of OpenAI's API there, and its own status and code",
  (name, status, code) => {
    expect(openAiError(name)).toMatchObject({ status, type: 'invalid_request_error', code });
  },
);
