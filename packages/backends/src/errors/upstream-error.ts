import { describeError } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';

const DETAIL_BYTES_MAX = 4096;

const TOO_MANY_REQUESTS = 429;

/** An upstream that answered with a failure: a status that is none of success, or an error where an answer should be. */
export function upstreamRefused(status: number, body: string): UpstreamFailure {
  const hadNoEffect = status === TOO_MANY_REQUESTS;
  const isBackendAtFault = status < 400 || status >= 500 || hadNoEffect;
  return new UpstreamFailure(`upstream ${status}: ${boundedDetail(body)}`, {
    isBackendAtFault,
    hadNoEffect,
    status,
    loggedAs: `upstream ${status}`,
  });
}

/** An upstream that could not be talked to, or that answered something else than it should. */
export function upstreamFailed(cause: unknown): UpstreamFailure {
  if (cause instanceof UpstreamFailure) return cause;
  return new UpstreamFailure(describeError(cause), { isBackendAtFault: true, cause });
}

/** The text with the secret taken out of it: some upstreams quote the key that they were sent. */
export const withoutSecret = (text: string, secret: string | null): string =>
  secret === null ? text : text.replaceAll(secret, '[redacted]');

/** The text of an upstream error body, bounded: its own message where it has one. */
export function boundedDetail(body: string): string {
  const detail = errorMessage(body) ?? body.trim();
  const bytes = Buffer.from(detail);
  if (bytes.length <= DETAIL_BYTES_MAX) return detail;
  // A cut inside a character leaves a replacement character at the end, which is dropped.
  return bytes
    .subarray(0, DETAIL_BYTES_MAX)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}

function errorMessage(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    const error = property(parsed, 'error') ?? parsed;
    const message = typeof error === 'string' ? error : property(error, 'message');
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
