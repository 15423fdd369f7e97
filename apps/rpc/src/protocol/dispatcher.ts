import {
  rpcMethods,
  ServiceError,
  type MethodContract,
  type RpcMethodName,
} from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import { JsonRpcError } from 'jsonrpc-lite';
import type { Authorise, Credentials } from './authorise.ts';
import type { CallContext } from './call-context.ts';
import type { CallWatch } from './call-watch.ts';
import type { Handlers } from './handlers.ts';
import { parseMessages, type Message } from './message.ts';
import { createOrderedCalls } from './ordered-calls.ts';
import { parseParams } from './parse-params.ts';
import { errorText, successText } from './response.ts';
import { toRpcError } from './rpc-error.ts';

/** Who speaks, and over what. */
export interface Caller {
  readonly credentials: Credentials;
  /** A WebSocket without a token: only public methods and the probe are for it. */
  readonly isAnonymousSocket: boolean;
}

/** What a text was answered with. */
export interface Answer {
  readonly text: string;
  /** The response objects in it, one for each request. */
  readonly responses: readonly string[];
  /** The connection has served its purpose. */
  readonly isLast: boolean;
}

/** Answers JSON-RPC messages; knows no transport. */
export interface Dispatcher {
  answer(text: string, caller: Caller): Promise<Answer>;
}

/** Refuses a caller by what the params name, before the params are validated. */
export type Guard = (
  method: RpcMethodName,
  params: unknown,
  context: CallContext<'jwt-or-admin-token'>,
) => Promise<void>;

interface DispatcherDependencies {
  readonly methods: Handlers;
  readonly authorise: Authorise;
  readonly guard: Guard;
  /** The document behind `rpc.discover`. */
  readonly discover: () => unknown;
  readonly watch: CallWatch;
  readonly log: Log;
}

const BATCH_REQUESTS_MAX = 1000;
const PARSE_ERROR = new JsonRpcError('Parse error', -32_700);
const INVALID_REQUEST = new JsonRpcError('Invalid request', -32_600);

export function createDispatcher({
  methods,
  authorise,
  guard,
  discover,
  watch,
  log,
}: DispatcherDependencies): Dispatcher {
  const ordered = createOrderedCalls();

  async function call(method: string, params: unknown, caller: Caller): Promise<unknown> {
    if (method === 'rpc.discover' && !caller.isAnonymousSocket) return discover();
    if (!isMethod(method)) throw unknownMethod(method, caller);
    const contract: MethodContract = rpcMethods[method];
    const work = (): Promise<unknown> => carryOut(method, contract, params, caller);
    return contract.isOrdered === true ? ordered.run(caller, work) : work();
  }

  async function carryOut(
    method: RpcMethodName,
    contract: MethodContract,
    params: unknown,
    caller: Caller,
  ): Promise<unknown> {
    const context = await authorise(method, contract, caller.credentials);
    await guard(method, params, context);
    const parsed: unknown = parseParams(contract.params, params);
    // The table ties each handler to its own params and context; the union of all of them cannot be called directly.
    const handler = methods[method] as (params: unknown, context: unknown) => Promise<unknown>;
    return handler(parsed, context);
  }

  async function respond({ id, call: request }: Message, caller: Caller): Promise<string> {
    if (request === undefined) return errorText(id, INVALID_REQUEST);
    const { method, params } = request;
    const watched = watch(method);
    try {
      const answer = successText(id, await watched.run(() => call(method, params, caller)));
      watched.end('ok');
      return answer;
    } catch (error) {
      const told = error instanceof JsonRpcError ? error : toRpcError(error, log);
      watched.end(String(told.code));
      return errorText(id, told);
    }
  }

  async function respondToBatch(messages: readonly Message[], caller: Caller): Promise<Answer> {
    const responses: string[] = [];
    let isLast = false;
    for (const message of messages) {
      const isProbe = isAnonymousProbe(message, caller);
      responses.push(isProbe ? acknowledge(message) : await respond(message, caller));
      isLast ||= isProbe;
    }
    return { text: `[${responses.join(',')}]`, responses, isLast };
  }

  return {
    async answer(text, caller) {
      const parsed = parseMessages(text);
      if (parsed.kind === 'garbage') return single(errorText('null', PARSE_ERROR));
      if (parsed.kind === 'single') {
        const { message } = parsed;
        if (isAnonymousProbe(message, caller))
          return { ...single(acknowledge(message)), isLast: true };
        return single(await respond(message, caller));
      }
      const count = parsed.messages.length;
      if (count === 0 || count > BATCH_REQUESTS_MAX)
        return single(errorText('null', INVALID_REQUEST));
      return respondToBatch(parsed.messages, caller);
    },
  };
}

const single = (text: string): Answer => ({ text, responses: [text], isLast: false });

/** `system.probe` exists for anonymous sockets alone. */
function isAnonymousProbe({ call }: Message, { isAnonymousSocket }: Caller): boolean {
  return isAnonymousSocket && call?.method === 'system.probe';
}

const acknowledge = ({ id }: Message): string => successText(id, { ok: true, status: 'ok' });

function isMethod(name: string): name is RpcMethodName {
  return Object.hasOwn(rpcMethods, name);
}

// A stranger on a socket is not told which methods there are.
function unknownMethod(method: string, { isAnonymousSocket }: Caller): unknown {
  if (isAnonymousSocket)
    return new ServiceError('authentication_required', 'authentication required');
  return new JsonRpcError(`Method not found: ${method}`, -32_601);
}
