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

/** Where the service is, and how to speak to it. */
export interface RpcClientOptions {
  /** For example `https://gateway.example`. */
  readonly baseUrl: string;
  /** An access token or the admin token; a function is asked anew for each call. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>);
  readonly transport?: 'http' | 'websocket';
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
  /** In place of the global one, which Node 20 does not have. */
  readonly WebSocket?: WebSocketConstructor;
  /** How long a call may take. */
  readonly timeoutMs?: number;
}

export interface RpcCallOptions {
  readonly signal?: AbortSignal;
  /** A session on whose event stream a copy of the answer shall arrive. Such a call goes over HTTP. */
  readonly sessionId?: string;
}

/** The params of a method, which may be left out where all of them may. */
export type RpcCallArguments<Name extends RpcMethodName> =
  Record<string, never> extends RpcInput<Name>
    ? [params?: RpcInput<Name>, options?: RpcCallOptions]
    : [params: RpcInput<Name>, options?: RpcCallOptions];

/** One call of a batch. */
export type RpcBatchCall<Name extends RpcMethodName> =
  Record<string, never> extends RpcInput<Name>
    ? { readonly method: Name; readonly params?: RpcInput<Name> }
    : { readonly method: Name; readonly params: RpcInput<Name> };

/** What became of one call of a batch. */
export type RpcOutcome<Result> =
  | { readonly status: 'fulfilled'; readonly value: Result }
  | { readonly status: 'rejected'; readonly reason: RpcCallError };

/** A typed client of the management plane. */
export interface RpcClient {
  /** Calls a method. Throws `RpcCallError` when it is refused, `RpcConnectionError` when there is no answer. */
  call<Name extends RpcMethodName>(
    method: Name,
    ...rest: RpcCallArguments<Name>
  ): Promise<RpcResult<Name>>;
  /** Calls methods one after another in one message. A refused one does not stop those after it. */
  batch<const Names extends readonly RpcMethodName[]>(
    calls: { readonly [Index in keyof Names]: RpcBatchCall<Names[Index]> },
    options?: RpcCallOptions,
  ): Promise<{ -readonly [Index in keyof Names]: RpcOutcome<RpcResult<Names[Index]>> }>;
  /** The OpenRPC description of the service. */
  discover(options?: RpcCallOptions): Promise<OpenRpcDocument>;
  /** Listens to a session. */
  subscribe(sessionId: string, options?: { readonly signal?: AbortSignal }): RpcSubscription;
  /** Ends the calls and subscriptions under way, and the connection. */
  close(): void;
}

/** Makes a client. It opens nothing until it is used. */
export function createRpcClient(options: RpcClientOptions): RpcClient {
  const base = options.baseUrl.replace(/\/+$/, '');
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS_DEFAULT;
  const fetch_ = options.fetch ?? globalThis.fetch;
  const token = tokenSource(options.token);
  const transport = createTransport(options, base, token, fetch_);
  const closing = new AbortController();

  const signalsWith = (signal: AbortSignal | undefined): readonly AbortSignal[] =>
    signal === undefined ? [closing.signal] : [signal, closing.signal];

  async function within<Answer>(
    { signal, sessionId }: RpcCallOptions,
    send: (sending: SendOptions) => Promise<Answer>,
  ): Promise<Answer> {
    const deadline = startDeadline(timeoutMs, signalsWith(signal));
    try {
      deadline.signal.throwIfAborted();
      return await send({ signal: deadline.signal, sessionId });
    } finally {
      deadline.release();
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
    // The service answers by the same contracts that the types come from, so answers are not checked a second time.
    call: async (method, ...[params, callOptions]) =>
      (await callAny(method, params, callOptions)) as never,
    async batch(calls, callOptions = {}) {
      const requests = calls.map(({ method, params }) => createRequest(method, params));
      const answers =
        requests.length === 0
          ? []
          : await within(callOptions, (sending) => transport.sendBatch(requests, sending));
      return answers.map(outcomeOf) as never;
    },
    discover: async (callOptions) =>
      (await callAny('rpc.discover', undefined, callOptions)) as OpenRpcDocument,
    subscribe: (sessionId, { signal } = {}) =>
      openEventStream({
        url: `${base}/api/rpc/events?session=${encodeURIComponent(sessionId)}`,
        token,
        fetch: fetch_,
        signals: signalsWith(signal),
        timeoutMs,
      }),
    close() {
      closing.abort(new RpcConnectionError('closed', 'the client was closed'));
      transport.close();
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
  if (WebSocket === undefined) throw new TypeError('there is no WebSocket here: pass one');
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
