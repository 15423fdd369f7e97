import type { IncomingMessage, ServerResponse } from 'node:http';
import { REST_ERRORS, identify } from '@model-gateway/http';
import { ServiceError } from '@model-gateway/contracts';
import {
  createRequestTrace,
  endOf,
  SERVED_STATUS,
  type Caller,
  type Meter,
  type RequestTrace,
} from '@model-gateway/inference';
import { serviceRefOf } from './openai/service-ref.ts';

/** What the request log needs to know of a request with a known key, if it fails. */
export interface TracedRequest {
  readonly caller: Caller;
  readonly trace: RequestTrace;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** As the client named it; undefined until the body is read. */
  model: string | undefined;
  /** The text of a refusal that was sent as plain text. */
  refusal: string | undefined;
}

const TRACED = Symbol('traced request');

type Traced = ServerResponse & { [TRACED]?: TracedRequest };

/** Begins the trace of a request whose key is known. */
export function traceRequest(response: Traced, caller: Caller): void {
  const { req: request } = response;
  const id = identify(request, response);
  const isOfClient = request.headers['x-request-id'] === id;
  // The official libraries count how often they sent a request again.
  const isRepeat = Number(request.headers['x-stainless-retry-count'] ?? 0) > 0;
  response[TRACED] = {
    caller,
    // A client may use an id twice; the id of a row must be unique.
    trace: isOfClient
      ? createRequestTrace(undefined, id, isRepeat)
      : createRequestTrace(id, undefined, isRepeat),
    startedAt: performance.now(),
    model: undefined,
    refusal: undefined,
  };
}

/** The trace of a request; undefined while its key is not known. */
export const tracedOf = (response: Traced): TracedRequest | undefined => response[TRACED];

/** Notes the failure of a request with a known key in the request log, after its response was sent. */
export type NoteFailure = (
  request: IncomingMessage,
  response: ServerResponse,
  error?: unknown,
) => void;

const ERROR_MIN = 400;
const UNAUTHORIZED = 401;

export function createNoteFailure(meter: Pick<Meter, 'failed'>): NoteFailure {
  return (request, response, error) => {
    const traced = tracedOf(response);
    if (traced === undefined || traced.trace.isRecorded) return;
    if (error === undefined && response.statusCode < ERROR_MIN) return;
    const { caller, trace, startedAt, model } = traced;
    const failure = failureOf(response, error, traced.refusal);
    const refId = refOf(request);
    meter.failed({ caller, surface: 'gateway', model, refId, trace, startedAt, ...failure });
  };
}

function failureOf(response: ServerResponse, error: unknown, refusal: string | undefined) {
  const { statusCode } = response;
  if (error === undefined) {
    const known = statusCode === UNAUTHORIZED ? 'authentication_required' : 'rate_limit_exceeded';
    return { status: statusCode, code: REST_ERRORS[known].code, message: refusal ?? '' };
  }
  if (hasLeft(response)) return { status: SERVED_STATUS.left, ...endOf(SERVED_STATUS.left) };
  const known = error instanceof ServiceError ? error : undefined;
  const { status, code } = REST_ERRORS[known?.code ?? 'internal_error'];
  return {
    // What was sent: the status may be that of the upstream, or of another API.
    status: statusCode >= ERROR_MIN ? statusCode : status,
    code,
    message: known?.message ?? 'internal error',
  };
}

/** Whether the client disconnected before it had sent its request or got its response. */
const hasLeft = ({ destroyed, writableFinished, req }: ServerResponse): boolean =>
  (destroyed && !writableFinished) || (req.destroyed && !req.complete);

/** A model id that is too long is the reason of the failure. */
function refOf(request: IncomingMessage): string | null {
  try {
    return serviceRefOf(request);
  } catch {
    return null;
  }
}
