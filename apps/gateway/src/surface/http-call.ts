import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  disconnectSignal,
  failureOf,
  identify,
  type ErrorWriter,
  type LeanRoute,
} from '@model-gateway/http';
import {
  createRequestTrace,
  endOf,
  logFailedCall,
  SERVED_STATUS,
  type AdmittedContext,
  type Caller,
  type CallFailure,
  type CallLog,
  type CountedCall,
  type Grant,
  type Identity,
  type Meter,
} from '@model-gateway/inference';
import type { Clock, Log } from '@model-gateway/kernel';
import { serviceRefOf } from '../openai/service-ref.ts';
import { HttpAnswer } from './http-answer.ts';
import type { Identities } from './identity.ts';
import {
  countedHeaders,
  requestHeaders,
  setLimitHeaders,
  type LimitHeaders,
} from './limit-headers.ts';
import { isPlain, sendError } from './refusals.ts';
import type { RequestLimiter } from './request-limiter.ts';

type ClientEnd = ReturnType<typeof disconnectSignal>;

/** A request with an API key. */
export interface HttpCall extends AdmittedContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: HttpAnswer;
  /** Aborted when the client disconnected. */
  readonly signal: AbortSignal;
  /** Calls the listener when the client has the answer, or has left. */
  readonly onEnd: ClientEnd['onEnd'];
  /** For every response to the request, as far as they are known. */
  headers: LimitHeaders;
  /** Checks the key of a request that only the limit of this process counts. */
  authenticate(): Promise<Grant>;
}

/** A route for requests with an API key. */
export interface CallRoute extends Pick<LeanRoute, 'method' | 'path' | 'writeError'> {
  handle(call: HttpCall): Promise<void>;
}

/** Runs handlers of requests with an API key. */
export interface HttpCalls {
  /** Resolves to what the handler does; sends its failure to the client, and notes that of a known caller in the request log. */
  run<Result>(
    request: IncomingMessage,
    response: ServerResponse,
    handle: (call: HttpCall) => Promise<Result>,
    writeError?: ErrorWriter,
  ): Promise<Result | undefined>;
  leanRoute(route: CallRoute): LeanRoute;
}

interface HttpCallsDependencies {
  readonly identities: Pick<Identities, 'keyOf'>;
  readonly limiter: RequestLimiter;
  readonly meter: Pick<Meter, 'failed'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createHttpCalls(dependencies: HttpCallsDependencies): HttpCalls {
  const { meter, log } = dependencies;
  const run: HttpCalls['run'] = async (request, response, handle, writeError) => {
    const call = new RequestCall(request, response, dependencies);
    try {
      return await handle(call);
    } catch (error) {
      setLimitHeaders(response, call.headers);
      call.answer.saw(sendError(error, request, response, log, writeError));
      // A read is not a request to a model.
      if (request.method === 'POST') logFailedCall(call, sentFailure(response, error), meter);
      return undefined;
    }
  };
  return {
    run,
    leanRoute: (route) => ({
      ...route,
      handle: (request, response) =>
        run(request, response, (call) => route.handle(call), route.writeError),
    }),
  };
}

/** A class, because there is one for each request: methods are created once. */
class RequestCall implements HttpCall {
  readonly surface = 'gateway';
  readonly startedAt = performance.now();
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: HttpAnswer;
  readonly identity: Identity;
  readonly log: CallLog = { caller: undefined, trace: undefined, model: undefined };
  headers: LimitHeaders = [];
  readonly #limiter: RequestLimiter;
  readonly #clock: Clock;
  #client: ClientEnd | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { identities, limiter, clock }: HttpCallsDependencies,
  ) {
    this.request = request;
    this.response = response;
    this.answer = new HttpAnswer(response);
    this.#limiter = limiter;
    this.#clock = clock;
    this.identity = identities.keyOf(request, response, (caller) => this.#onKnown(caller));
  }

  get refId(): string | null {
    return serviceRefOf(this.request);
  }

  get signal(): AbortSignal {
    return this.#clientEnd().signal;
  }

  get onEnd(): ClientEnd['onEnd'] {
    return this.#clientEnd().onEnd;
  }

  /** Only what waits for an answer needs it. */
  #clientEnd(): ClientEnd {
    this.#client ??= disconnectSignal(this.response);
    return this.#client;
  }

  async authenticate(): Promise<Grant> {
    // Looked up, because no admission follows that would find a cached key changed.
    const grant = await this.identity.grant(0);
    this.headers = requestHeaders(this.#limiter, grant.caller.keyId ?? '');
    return grant;
  }

  onCounted(counted: CountedCall): void {
    this.headers = countedHeaders(this.#limiter, counted, new Date(this.#clock.now()));
  }

  #onKnown(caller: Caller): void {
    if (this.log.caller !== undefined) return;
    const { request, response } = this;
    const id = identify(request, response);
    const isOfClient = request.headers['x-request-id'] === id;
    // The official libraries count how often they sent a request again.
    const isRepeat = Number(request.headers['x-stainless-retry-count'] ?? 0) > 0;
    this.log.caller = caller;
    // A client may use an id twice; the id of a row must be unique.
    this.log.trace = isOfClient
      ? createRequestTrace(undefined, id, isRepeat)
      : createRequestTrace(id, undefined, isRepeat);
  }
}

const ERROR_MIN = 400;

/** The failure of a request whose response was sent. */
function sentFailure(response: ServerResponse, error: unknown): CallFailure {
  const failure = failureOf(error);
  if (isPlain(error, response)) return { ...failure, status: error.status, message: error.text };
  if (hasLeft(response)) return { status: SERVED_STATUS.left, ...endOf(SERVED_STATUS.left) };
  const { statusCode } = response;
  // What was sent: the status may be that of the upstream, or of another API.
  return statusCode >= ERROR_MIN ? { ...failure, status: statusCode } : failure;
}

/** Whether the client disconnected before it had sent its request or got its response. */
const hasLeft = ({ destroyed, writableFinished, req }: ServerResponse): boolean =>
  (destroyed && !writableFinished) || (req.destroyed && !req.complete);
