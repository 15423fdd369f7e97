import {
  clipped,
  rpcMethods,
  ServiceError,
  type MethodContract,
  type RpcMethodName,
} from '@model-gateway/contracts';
import type { SignIn, User } from '@model-gateway/accounts';
import { yieldToEventLoop, type Log } from '@model-gateway/kernel';
import { JsonRpcError } from 'jsonrpc-lite';
import type { Authorize, Credentials } from './authorize.ts';
import type { CallObserver } from './call-observer.ts';
import type { CallPlaces } from './call-places.ts';
import type { DocumentError } from './error-docs.ts';
import { contractOf, isMethod } from './contract-of.ts';
import { parseMessages, type Message } from './message.ts';
import { createOrderedCalls } from './ordered-calls.ts';
import { parseParams } from './parse-params.ts';
import { errorText, successText } from './response.ts';
import { toRpcError } from './rpc-error.ts';

/** The sender of a message and its kind of connection. */
export interface RpcCaller {
  readonly credentials: Credentials;
  /** A WebSocket without a token: it may call only public methods and the probe. */
  readonly isAnonymousSocket: boolean;
  readonly isSocket?: true;
  /** Of the HTTP request, or of the one that opened the socket. */
  readonly requestId: string;
}

/** What is recorded of the sender of a call. */
export interface CallerFacts {
  readonly user: User | undefined;
  /** Undefined for callers without an access token. */
  readonly signIn?: SignIn | undefined;
  readonly hasAdminToken: boolean;
  readonly clientIp: string;
  readonly requestId: string;
}

/** Calls the handler of a method. */
export type PerformCall = (
  method: RpcMethodName,
  params: unknown,
  context: object,
  caller: CallerFacts,
) => Promise<unknown>;

/** The response to a message. */
export interface DispatchResult {
  readonly text: string;
  /** The response objects in `text` for the listeners of a session, one for each request and without secrets. */
  readonly copies: readonly string[];
  /** The connection is to be closed after this response. */
  readonly closesConnection: boolean;
  /** The connection was authenticated when it was opened, and its sign-in has ended since. */
  readonly isSignedOut: boolean;
}

/** The response to one request. */
interface Answer {
  readonly text: string;
  readonly copy: string;
  readonly isSignedOut: boolean;
}

/** Executes JSON-RPC messages, independent of the transport. */
export interface Dispatcher {
  dispatch(text: string, caller: RpcCaller): Promise<DispatchResult>;
}

interface DispatcherDependencies {
  readonly perform: PerformCall;
  readonly authorize: Authorize;
  readonly places: CallPlaces;
  /** Returns the result of `rpc.discover` as JSON. */
  readonly discover: () => string;
  readonly observe: CallObserver;
  readonly documentError: DocumentError;
  readonly log: Log;
}

/** The responses to one batch, together. */
const BATCH_RESPONSE_BYTES_MAX = 8 * 1024 * 1024;
/** How long a batch runs before other work gets its turn. */
const BATCH_STEP_MS = 50;
const METHOD_CHARS_MAX = 128;
const PARSE_ERROR = new JsonRpcError('Parse error', -32_700);
/** What the listeners of a session get in place of a secret. */
const NOT_PUSHED = JSON.stringify({ pushed: false });
const INVALID_REQUEST = new JsonRpcError('Invalid request', -32_600);
const BATCH_TOO_LARGE = new JsonRpcError('batch answer too large', -32_000);

export function createDispatcher({
  perform,
  authorize,
  places,
  discover,
  observe,
  documentError,
  log,
}: DispatcherDependencies): Dispatcher {
  const ordered = createOrderedCalls();
  const parseError = documentError(PARSE_ERROR);
  const invalidRequest = documentError(INVALID_REQUEST);

  /** The result of a call, as JSON. */
  async function call(method: string, params: unknown, caller: RpcCaller): Promise<string> {
    if (method === 'rpc.discover' && !caller.isAnonymousSocket) return discover();
    if (!isMethod(method)) throw unknownMethod(method, caller);
    const contract: MethodContract = rpcMethods[method];
    const { credentials, isSocket: isOverSocket = false } = caller;
    const work = (): Promise<unknown> =>
      places.run({ method, credentials, isOverSocket }, () =>
        execute(method, contract, params, caller),
      );
    const result = await (contract.isOrdered === true ? ordered.run(caller, work) : work());
    return JSON.stringify(result ?? null);
  }

  async function execute(
    method: RpcMethodName,
    contract: MethodContract,
    params: unknown,
    caller: RpcCaller,
  ): Promise<unknown> {
    const context = await authorize(method, contract, caller.credentials, params);
    const parsed: unknown = parseParams(contract.params, params);
    return perform(method, parsed, context, { ...context, requestId: caller.requestId });
  }

  async function respond({ id, call: request }: Message, caller: RpcCaller): Promise<Answer> {
    if (request === undefined) return answer(errorText(id, invalidRequest));
    const { method, params } = request;
    const observed = observe(method);
    try {
      const response = successText(id, await observed.run(() => call(method, params, caller)));
      observed.end('ok');
      return hasSecretResult(method)
        ? answer(response, successText(id, NOT_PUSHED))
        : answer(response);
    } catch (error) {
      const rpcError = error instanceof JsonRpcError ? error : toRpcError(error, log);
      observed.end(String(rpcError.code));
      const text = errorText(id, documentError(rpcError, error));
      return { ...answer(text), isSignedOut: isSignedOut(error, caller) };
    }
  }

  async function respondToBatch(
    messages: readonly Message[],
    caller: RpcCaller,
  ): Promise<DispatchResult> {
    const answers: Answer[] = [];
    const budget = createBatchBudget(messages);
    let closesConnection = false;
    let stepStartedAt = performance.now();
    for (const message of messages) {
      if (budget.isFull()) {
        answers.push(answer(errorText(message.id, BATCH_TOO_LARGE)));
        continue;
      }
      const isProbe = isAnonymousProbe(message, caller);
      const one = isProbe ? answer(acknowledge(message)) : await respond(message, caller);
      const isSent = budget.fits(message, one.text);
      const refusal = errorText(message.id, BATCH_TOO_LARGE);
      answers.push(isSent ? one : { ...one, text: refusal, copy: refusal });
      closesConnection ||= isProbe;
      if (performance.now() - stepStartedAt > BATCH_STEP_MS) {
        await yieldToEventLoop();
        stepStartedAt = performance.now();
      }
    }
    return {
      text: `[${answers.map(({ text }) => text).join(',')}]`,
      copies: answers.map(({ copy }) => copy),
      closesConnection,
      isSignedOut: answers.some((one) => one.isSignedOut),
    };
  }

  return {
    async dispatch(text, caller) {
      const parsed = await parseMessages(text);
      if (parsed.kind === 'invalid') return single(answer(errorText('null', parseError)));
      if (parsed.kind === 'invalid-request')
        return single(answer(errorText('null', invalidRequest)));
      if (parsed.kind === 'single') {
        const { message } = parsed;
        if (isAnonymousProbe(message, caller))
          return { ...single(answer(acknowledge(message))), closesConnection: true };
        return single(await respond(message, caller));
      }
      return respondToBatch(parsed.messages, caller);
    },
  };
}

const answer = (text: string, copy = text): Answer => ({ text, copy, isSignedOut: false });

const single = ({ text, copy, isSignedOut: ended }: Answer): DispatchResult => ({
  text,
  copies: [copy],
  closesConnection: false,
  isSignedOut: ended,
});

const hasSecretResult = (method: string): boolean => contractOf(method)?.hasSecretResult === true;

/** A socket was authenticated when it was opened, so this error means that its sign-in has ended. */
function isSignedOut(error: unknown, { credentials }: RpcCaller): boolean {
  const isUnauthenticated =
    error instanceof ServiceError && error.code === 'authentication_required';
  return isUnauthenticated && credentials.signIn !== undefined;
}

/** `system.probe` exists only for anonymous sockets. */
function isAnonymousProbe({ call }: Message, { isAnonymousSocket }: RpcCaller): boolean {
  return isAnonymousSocket && call?.method === 'system.probe';
}

const acknowledge = ({ id }: Message): string =>
  successText(id, JSON.stringify({ ok: true, status: 'ok' }));

// An anonymous socket cannot find out which methods exist.
function unknownMethod(method: string, { isAnonymousSocket }: RpcCaller): unknown {
  if (isAnonymousSocket)
    return new ServiceError('authentication_required', 'authentication required');
  return new JsonRpcError(`Method not found: ${clipped(method, METHOD_CHARS_MAX)}`, -32_601);
}

/** How many bytes are left for the responses to a batch. */
interface BatchBudget {
  /** False when a response is too large; the batch is full from then on. */
  fits(message: Message, response: string): boolean;
  isFull(): boolean;
}

/** Every message has bytes reserved for an error from the beginning, so that the errors fit as well. */
function createBatchBudget(messages: readonly Message[]): BatchBudget {
  const errorBytes = ({ id }: Message): number => bytesInBatch(errorText(id, BATCH_TOO_LARGE));
  let left = messages.reduce(
    (rest, message) => rest - errorBytes(message),
    BATCH_RESPONSE_BYTES_MAX - 1,
  );
  let isFull = false;
  return {
    fits(message, response) {
      const bytes = bytesInBatch(response) - errorBytes(message);
      isFull ||= bytes > left;
      if (!isFull) left -= bytes;
      return !isFull;
    },
    isFull: () => isFull,
  };
}

/** With the comma or bracket before it. */
const bytesInBatch = (response: string): number => Buffer.byteLength(response) + 1;
