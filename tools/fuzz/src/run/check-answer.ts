import type { Answer } from './send.ts';
import type { SecretSearch } from './secret-search.ts';

/** The largest answer to a small request: a batch may have 8 MiB of answers. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024 + 64 * 1024;
/** The largest answer about an error. */
const ERROR_BYTES_MAX = 16 * 1024;

/** The Messages API knows no 502: there the failure of an upstream is a 500 with its own message. */
const MESSAGES_UPSTREAM_500 = /"type":"api_error","message":"(?!internal error")/;
/** Errors with status 500 that the specification words. */
const SPECIFIED_500 = /"code":"(backend_error|internal_error)".*|all backends unhealthy/;

/** What must not be seen in any answer over HTTP. */
export function checkAnswer(answer: Answer, secrets: SecretSearch): readonly string[] {
  if (answer.outcome === 'no answer') return ['no answer'];
  if (answer.outcome === 'too large') return [`an answer above ${ANSWER_BYTES_MAX} bytes`];
  const text = answer.body.toString('latin1');
  return [
    ...secrets.namesIn(text).map((name) => `the answer contains ${name}`),
    ...(answer.status >= 400 && answer.body.length > ERROR_BYTES_MAX
      ? [`an error of ${answer.body.length} bytes`]
      : []),
    ...(isInternal(answer.status, text) ? [`status ${answer.status}: ${text.slice(0, 300)}`] : []),
  ];
}

function isInternal(status: number, text: string): boolean {
  if (status !== 500) return false;
  if (text.includes('all backends unhealthy')) return false;
  if (MESSAGES_UPSTREAM_500.test(text)) return false;
  return !SPECIFIED_500.test(text) || !text.includes('"backend_error"');
}
