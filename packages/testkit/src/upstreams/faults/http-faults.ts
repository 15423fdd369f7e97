import type { Exchange } from '../wire/exchange.ts';
import { faultOf } from './fault-plan.ts';

/** Faults of any HTTP response. */
export type HttpFault =
  /** Responds with this status; the default body is an error of the server's API. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: unknown;
      readonly retryAfterSecs?: number;
    }
  /** Waits before the first byte. */
  | { readonly kind: 'slow-start'; readonly delayMs: number }
  /** Waits before the first byte until the promise settles. */
  | { readonly kind: 'held'; readonly until: Promise<unknown> }
  /** Reads the request and never responds. */
  | { readonly kind: 'hang' }
  /** Reads the request and resets the connection without a response. */
  | { readonly kind: 'reset' }
  /** Responds with 200, a JSON content type and a body that is not JSON. */
  | { readonly kind: 'garbage-json' }
  /** Responds with 200 and an error in the body. */
  | { readonly kind: 'error-body'; readonly body?: unknown }
  /** Responds with an error of several megabytes. */
  | { readonly kind: 'huge-error'; readonly status?: number; readonly bytes?: number };

/** The error body of a server's API. */
export type ErrorBody = (status: number, message: string) => unknown;

const HUGE_ERROR_BYTES = 5 * 1024 * 1024;
const GARBAGE = '{"id": "half an obj';

/** Applies the faults that are about the whole response; returns whether the exchange has ended. */
export async function applyHttpFaults(
  exchange: Exchange,
  given: readonly { readonly kind: string }[],
  errorBody: ErrorBody,
): Promise<boolean> {
  const faults = given.filter(isHttpFault);
  const slow = faultOf(faults, 'slow-start');
  if (slow !== undefined && !(await exchange.wait(slow.delayMs))) return true;
  const held = faultOf(faults, 'held');
  if (held !== undefined && (await closesBefore(exchange, held.until))) return true;
  for (const fault of faults) if (await applyFault(exchange, fault, errorBody)) return true;
  return false;
}

function closesBefore(exchange: Exchange, event: Promise<unknown>): Promise<boolean> {
  return Promise.race([event.then(() => false), exchange.untilClosed().then(() => true)]);
}

async function applyFault(
  exchange: Exchange,
  fault: HttpFault,
  errorBody: ErrorBody,
): Promise<boolean> {
  switch (fault.kind) {
    case 'status':
      sendStatus(exchange, fault, errorBody);
      return true;
    case 'hang':
      await exchange.untilClosed();
      return true;
    case 'reset':
      exchange.cut('reset');
      return true;
    case 'garbage-json':
      exchange.send(200, 'application/json', GARBAGE);
      return true;
    case 'error-body':
      exchange.sendJson(200, fault.body ?? errorBody(500, 'the model crashed'));
      return true;
    case 'huge-error': {
      const status = fault.status ?? 500;
      exchange.sendJson(status, errorBody(status, 'x'.repeat(fault.bytes ?? HUGE_ERROR_BYTES)));
      return true;
    }
    case 'slow-start':
    case 'held':
      break;
  }
  return false;
}

function sendStatus(
  exchange: Exchange,
  { status, body, retryAfterSecs }: Extract<HttpFault, { kind: 'status' }>,
  errorBody: ErrorBody,
): void {
  if (retryAfterSecs !== undefined) exchange.response.setHeader('retry-after', retryAfterSecs);
  if (typeof body === 'string') exchange.send(status, 'text/plain; charset=utf-8', body);
  else exchange.sendJson(status, body ?? errorBody(status, `planned failure ${status}`));
}

const KINDS: Readonly<Record<HttpFault['kind'], true>> = {
  status: true,
  'slow-start': true,
  held: true,
  hang: true,
  reset: true,
  'garbage-json': true,
  'error-body': true,
  'huge-error': true,
};

function isHttpFault(fault: { readonly kind: string }): fault is HttpFault {
  return Object.hasOwn(KINDS, fault.kind);
}
