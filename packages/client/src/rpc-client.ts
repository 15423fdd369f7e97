import type { OpenRpcDocument, RpcInput, RpcMethodName, RpcResult } from '@model-gateway/contracts';
import { startDeadline } from './deadline.ts';
import { createRequest, resultOf, type RpcResponse } from './envelope.ts';
import { openEventStream, type RpcSubscription } from './event-stream.ts';
import { createHttpTransport } from './http-transport.ts';
import { RpcCallError, RpcConnectionError } from './rpc-errors.ts';
import type { SendOptions, TokenSource, Transport } from './transport.ts';
import type { WebSocketConstructor } from './websocket-connection.ts';
import { createWebSocketTransport } from './websocket-transport.ts';

const TIMEOUT_MS_DEFAULT = 30_000;

/** The address of the service and how to connect to it. */
export interface RpcClientOptions {
  /** For example `https://gateway.example`. */
  readonly baseUrl: string;
  /** An access token or the admin token; a function is called for each call. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  readonly transport?: 'http' | 'websocket';
  /** Replaces the global one. */
  readonly fetch?: typeof fetch;
  /** Replaces the global one, which Node 20 does not have. */
  readonly WebSocket?: WebSocketConstructor;
  /** How long a call may take. */
  readonly timeoutMs?: number;
}

export interface RpcCallOptions {
  readonly signal?: AbortSignal;
  /** A session whose event stream gets a copy of the response. Such a call uses HTTP. */
  readonly sessionId?: string;
}

/** The params of a method; optional where every param is. */
export type RpcCallArguments<Name extends RpcMethodName> =
  Record<string, never> extends RpcInput<Name>
    ? [params?: RpcInput<Name>, options?: RpcCallOptions]
    : [params: RpcInput<Name>, options?: RpcCallOptions];

/** One call of a batch. */
export type RpcBatchCall<Name extends RpcMethodName> =
  Record<string, never> extends RpcInput<Name>
    ? { readonly method: Name; readonly params?: RpcInput<Name> }
    : { readonly method: Name; readonly params: RpcInput<Name> };

/** The outcome of one call of a batch. */
export type RpcOutcome<Result> =
  | { readonly status: 'fulfilled'; readonly value: Result }
  | { readonly status: 'rejected'; readonly reason: RpcCallError };

/** A typed client of the management plane. */
export interface RpcClient {
  /** Calls a method. Throws `RpcCallError` when it is refused, `RpcConnectionError` when no response arrives. */
  call<Name extends RpcMethodName>(
    method: Name,
    ...rest: RpcCallArguments<Name>
  ): Promise<RpcResult<Name>>;
  /** Calls methods one after another in one message. A refused call does not stop the following ones. */
  batch<const Names extends readonly RpcMethodName[]>(
    calls: { readonly [Index in keyof Names]: RpcBatchCall<Names[Index]> },
    options?: RpcCallOptions,
  ): Promise<{ -readonly [Index in keyof Names]: RpcOutcome<RpcResult<Names[Index]>> }>;
  /** The OpenRPC description of the service. */
  discover(options?: RpcCallOptions): Promise<OpenRpcDocument>;
  /** Subscribes to a session. */
  subscribe(sessionId: string, options?: { readonly signal?: AbortSignal }): RpcSubscription;
  /** Ends calls and subscriptions in progress, and closes the connection. */
  close(): void;
}

/** Creates a client. It opens no connection until it is used. */
export function createRpcClient(options: RpcClientOptions): RpcClient {
  const base = options.baseUrl.replace(/\/+$/, '');
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS_DEFAULT;
  const fetch_ = options.fetch ?? globalThis.fetch;
  const token = tokenSource(options.token);
  const transport = createTransport(options, base, token, fetch_);
  const closing = createClosing();

  async function within<Result>(
    { signal, sessionId }: RpcCallOptions,
    send: (sending: SendOptions) => Promise<Result>,
  ): Promise<Result> {
    const closed = closing.begin();
    const deadline = startDeadline(timeoutMs, both(signal, closed.signal));
    try {
      deadline.signal.throwIfAborted();
      return await send({ signal: deadline.signal, sessionId });
    } finally {
      deadline.release();
      closed.release();
    }
  }

  const callAny = async (
    method: string,
    params: unknown,
    callOptions: RpcCallOptions = {},
  ): Promise<unknown> =>
    resultOf(
      await within(callOptions, (sending) =>
        transport.send(createRequest(method, params), sending),
      ),
    );

  return {
    // The service validates by the same contracts as these types, so results are not checked again.
    call: async (method, ...[params, callOptions]) =>
      (await callAny(method, params, callOptions)) as never,
    async batch(calls, callOptions = {}) {
      const requests = calls.map(({ method, params }) => createRequest(method, params));
      const responses =
        requests.length === 0
          ? []
          : await within(callOptions, (sending) => transport.sendBatch(requests, sending));
      return responses.map(outcomeOf) as never;
    },
    discover: async (callOptions) =>
      (await callAny('rpc.discover', undefined, callOptions)) as OpenRpcDocument,
    subscribe(sessionId, { signal } = {}) {
      const closed = closing.begin();
      return openEventStream({
        url: `${base}/api/rpc/events?session=${encodeURIComponent(sessionId)}`,
        token,
        fetch: fetch_,
        signals: both(signal, closed.signal),
        onEnd: closed.release,
        timeoutMs,
      });
    },
    close() {
      closing.end(new RpcConnectionError('closed', 'the client was closed'));
      transport.close();
    },
  };
}

const both = (given: AbortSignal | undefined, own: AbortSignal): readonly AbortSignal[] =>
  given === undefined ? [own] : [given, own];

/** A signal for each call that aborts when the client is closed. Node warns of a leak where one signal has many listeners. */
function createClosing() {
  const open = new Set<AbortController>();
  let reason: Error | undefined;
  return {
    begin() {
      const controller = new AbortController();
      if (reason !== undefined) controller.abort(reason);
      open.add(controller);
      return { signal: controller.signal, release: () => void open.delete(controller) };
    },
    end(error: Error) {
      reason = error;
      for (const controller of open) controller.abort(error);
    },
  };
}

function createTransport(
  options: RpcClientOptions,
  base: string,
  token: TokenSource,
  fetch_: typeof fetch,
): Transport {
  const url = `${base}/api/rpc`;
  const http = createHttpTransport({ url, token, fetch: fetch_ });
  if (options.transport !== 'websocket') return http;
  const { WebSocket = (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket } = options;
  if (WebSocket === undefined)
    throw new TypeError('this runtime has no WebSocket: pass one in the options');
  return createWebSocketTransport({ url: url.replace(/^http/, 'ws'), token, WebSocket, http });
}

function tokenSource(token: RpcClientOptions['token']): TokenSource {
  return async () => (typeof token === 'function' ? token() : token);
}

function outcomeOf(response: RpcResponse): RpcOutcome<unknown> {
  try {
    return { status: 'fulfilled', value: resultOf(response) };
  } catch (error) {
    if (error instanceof RpcCallError) return { status: 'rejected', reason: error };
    throw error;
  }
}
