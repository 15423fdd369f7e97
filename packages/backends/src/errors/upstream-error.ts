import { STATUS_CODES } from 'node:http';
import { describeError, tryParseJson } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';

const MESSAGE_BYTES_MAX = 4096;
// The rest of a longer message is ignored.
const MESSAGE_CHARS_READ = 64 * 1024;
const SECRET_CHARS_MIN = 12;

const TOO_MANY_REQUESTS = 429;

/** The failure of an upstream that responded with an error status or an error body. */
export function upstreamRefused(
  status: number,
  body: string,
  secret: string | null,
): UpstreamFailure {
  const hadNoEffect = status === TOO_MANY_REQUESTS;
  const isBackendAtFault = status < 400 || status >= 500 || hadNoEffect;
  const detail = cleanMessage(errorMessage(body) ?? '', secret) || statusText(status);
  return new UpstreamFailure(`upstream ${status}: ${detail}`, {
    isBackendAtFault,
    hadNoEffect,
    status,
    loggedAs: `upstream ${status}`,
  });
}

/** The failure of an upstream that was unreachable or sent an invalid response. */
export function upstreamFailed(
  cause: unknown,
  { hadNoEffect = false }: { readonly hadNoEffect?: boolean } = {},
): UpstreamFailure {
  if (cause instanceof UpstreamFailure) return cause;
  return new UpstreamFailure(describeError(cause), { isBackendAtFault: true, hadNoEffect, cause });
}

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

/** The message of a JSON error, in the forms that upstreams use. */
function errorMessage(body: string): string | undefined {
  const parsed = tryParseJson(body);
  if (parsed === undefined) return messageOfCut(body);
  const error = property(parsed, 'error');
  const candidates = [
    error,
    property(error ?? parsed, 'message'),
    property(parsed, 'detail'),
    property(property(parsed, 'base_resp'), 'status_msg'),
  ];
  return candidates.find((message) => typeof message === 'string');
}

const CUT_MESSAGE =
  /^\s*\{.*?"(?:message|error|detail|status_msg)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)/s;

/** The message of a JSON error of which only the beginning was read. */
function messageOfCut(body: string): string | undefined {
  const text = CUT_MESSAGE.exec(body)?.[1]?.replace(/\\u[0-9a-f]{0,3}$/i, '');
  const message = text === undefined ? undefined : tryParseJson(`"${text}"`);
  return typeof message === 'string' ? message : undefined;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
