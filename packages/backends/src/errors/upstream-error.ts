import { STATUS_CODES } from 'node:http';
import { describeError } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { readUpstreamError } from './error-answer.ts';
import { retryDelayIn, statusOf } from './google-error.ts';
import { isModelMissing } from './model-missing.ts';
import { readRetryAfter } from './retry-after.ts';

const MESSAGE_BYTES_MAX = 4096;
// The rest of a longer message is ignored.
const MESSAGE_CHARS_READ = 64 * 1024;
const SECRET_CHARS_MIN = 12;
const LABEL_CHARS_MAX = 128;

const TOO_MANY_REQUESTS = 429;
const TIMEOUT = /time.?d?.?out|took longer/i;

/** The failure of an upstream that responded with an error status or an error body. */
export function upstreamRefused(
  given: number,
  body: string,
  secret: string | null,
  retryAfter?: string,
): UpstreamFailure {
  const status = statusOf(given, body);
  const hadNoEffect = status === TOO_MANY_REQUESTS;
  const isBackendAtFault = status < 400 || status >= 500 || hadNoEffect;
  const { message = '', ...labels } = readUpstreamError(body);
  const cleaned = cleanMessage(message, secret);
  const detail = cleaned || statusText(status);
  const upstream = {
    status,
    ...(cleaned === '' ? {} : { message: cleaned }),
    ...cleanLabels(labels, secret),
  };
  return new UpstreamFailure(`upstream ${status}: ${detail}`, {
    isBackendAtFault,
    hadNoEffect,
    isModelMissing: isModelMissing(upstream),
    status,
    upstream,
    retryAfterSecs: readRetryAfter(retryAfter ?? retryDelayIn(body), Date.now()),
    loggedAs: `upstream ${status}`,
  });
}

/** The short fields of an error, cleaned like its message. */
const cleanLabels = (labels: object, secret: string | null): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(labels).map(([name, text]) => [
      name,
      cleanMessage(String(text), secret).slice(0, LABEL_CHARS_MAX),
    ]),
  );

/** The failure of an upstream that was unreachable or did not finish its answer. */
export function upstreamFailed(
  cause: unknown,
  { hadNoEffect = false }: { readonly hadNoEffect?: boolean } = {},
): UpstreamFailure {
  if (cause instanceof UpstreamFailure) return cause;
  const isTimeout = isTimeoutError(cause);
  const details = { isBackendAtFault: true, hadNoEffect, isTimeout, cause };
  return new UpstreamFailure(describeError(cause), details);
}

/** The failure of an upstream that answered what nothing can be read from: it works, and the request may be why. */
export const unreadableAnswer = (problem: string): UpstreamFailure =>
  new UpstreamFailure(problem, { isBackendAtFault: true, wasUnreadable: true });

/** The errors of the HTTP client have codes, ours have messages. */
const isTimeoutError = (cause: unknown): boolean =>
  cause instanceof Error && TIMEOUT.test(`${Reflect.get(cause, 'code')} ${cause.message}`);

/** The failure of an upstream that sent an error in the middle of its answer. */
export const brokenOff = (message: string): UpstreamFailure =>
  new UpstreamFailure(message, {
    isBackendAtFault: true,
    wasAnswered: true,
    loggedAs: 'the upstream sent an error in the middle of its answer',
  });

/** The failure of an answer that exceeds a limit of this service: the backend works, so that it is not avoided. */
export const answerRefused = (problem: string): UpstreamFailure =>
  new UpstreamFailure(`the upstream answered ${problem}`, { isBackendAtFault: false });

/** Removes the key, which some upstreams quote. A short key is a dummy, such as `EMPTY`, and can be part of any text. */
export const withoutSecret = (text: string, secret: string | null): string =>
  secret === null || secret.length < SECRET_CHARS_MIN
    ? text
    : text.replaceAll(secret, '[redacted]');

/** A message of an upstream for users: without the backend's key, on one line, bounded. */
export function cleanMessage(text: string, secret: string | null): string {
  const line = withoutSecret(text, secret)
    .slice(0, MESSAGE_CHARS_READ)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const bytes = Buffer.from(line);
  if (bytes.length <= MESSAGE_BYTES_MAX) return line;
  // A cut inside a character leaves a replacement character at the end, which is dropped.
  return bytes
    .subarray(0, MESSAGE_BYTES_MAX)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}

const statusText = (status: number): string =>
  (status >= 400 ? STATUS_CODES[status] : undefined) ?? 'the upstream reported an error';
