import {
  rpcMethods,
  ServiceError,
  type MethodContract,
  type RpcMethodName,
} from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import { JsonRpcError } from 'jsonrpc-lite';
import type { Authorize, Credentials } from './authorize.ts';
import type { CallObserver } from './call-observer.ts';
import type { Handlers } from './handlers.ts';
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
}

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
  readonly methods: Handlers;
  readonly authorize: Authorize;
  /** Returns the result of `rpc.discover`. */
  readonly discover: () => unknown;
  readonly observe: CallObserver;
  readonly log: Log;
}

const BATCH_REQUESTS_MAX = 1000;
const PARSE_ERROR = new JsonRpcError('Parse error', -32_700);
/** What the listeners of a session get in place of a secret. */
const NOT_PUSHED = { pushed: false };
const INVALID_REQUEST = new JsonRpcError('Invalid request', -32_600);

export function createDispatcher({
  methods,
  authorize,
  discover,
  observe,
  log,
}: DispatcherDependencies): Dispatcher {
  const ordered = createOrderedCalls();

  async function call(method: string, params: unknown, caller: RpcCaller): Promise<unknown> {
    if (method === 'rpc.discover' && !caller.isAnonymousSocket) return discover();
    if (!isMethod(method)) throw unknownMethod(method, caller);
    const contract: MethodContract = rpcMethods[method];
    const work = (): Promise<unknown> => execute(method, contract, params, caller);
    return contract.isOrdered === true ? ordered.run(caller, work) : work();
  }

  async function execute(
    method: RpcMethodName,
    contract: MethodContract,
    params: unknown,
    caller: RpcCaller,
  ): Promise<unknown> {
    const context = await authorize(method, contract, caller.credentials, params);
    const parsed: unknown = parseParams(contract.params, params);
    // Each handler has its own params and context types, so the union of all handlers cannot be called directly.
    const handler = methods[method] as (params: unknown, context: unknown) => Promise<unknown>;
    return handler(parsed, context);
  }

  async function respond({ id, call: request }: Message, caller: RpcCaller): Promise<Answer> {
    if (request === undefined) return answer(errorText(id, INVALID_REQUEST));
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
      return { ...answer(errorText(id, rpcError)), isSignedOut: isSignedOut(error, caller) };
    }
  }

  async function respondToBatch(
    messages: readonly Message[],
    caller: RpcCaller,
  ): Promise<DispatchResult> {
    const answers: Answer[] = [];
    let closesConnection = false;
    for (const message of messages) {
      const isProbe = isAnonymousProbe(message, caller);
      answers.push(isProbe ? answer(acknowledge(message)) : await respond(message, caller));
      closesConnection ||= isProbe;
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
      const parsed = parseMessages(text);
      if (parsed.kind === 'invalid') return single(answer(errorText('null', PARSE_ERROR)));
      if (parsed.kind === 'single') {
        const { message } = parsed;
        if (isAnonymousProbe(message, caller))
          return { ...single(answer(acknowledge(message))), closesConnection: true };
        return single(await respond(message, caller));
      }
      const count = parsed.messages.length;
      if (count === 0 || count > BATCH_REQUESTS_MAX)
        return single(answer(errorText('null', INVALID_REQUEST)));
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

function hasSecretResult(method: string): boolean {
  const contract: MethodContract | undefined = isMethod(method) ? rpcMethods[method] : undefined;
  return contract?.hasSecretResult === true;
}

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

const acknowledge = ({ id }: Message): string => successText(id, { ok: true, status: 'ok' });

function isMethod(name: string): name is RpcMethodName {
  return Object.hasOwn(rpcMethods, name);
}

// An anonymous socket cannot find out which methods exist.
function unknownMethod(method: string, { isAnonymousSocket }: RpcCaller): unknown {
  if (isAnonymousSocket)
    return new ServiceError('authentication_required', 'authentication required');
  return new JsonRpcError(`Method not found: ${method}`, -32_601);
}
