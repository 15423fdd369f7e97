import {
  createJsonMeter,
  METERED_BYTES_MIN,
  raceAbort,
  tryParseJson,
  withTimeout,
} from '@model-gateway/kernel';
import { createPendingCalls, isMessage, type RpcMessage } from '@model-gateway/json-rpc';
import type { UpstreamFailure } from '@model-gateway/router';
import { NotificationObject, RequestObject } from 'jsonrpc-lite';
import { upstreamFailed } from '../errors/upstream-error.ts';
import type { SendQueue } from '../realtime/send-queue.ts';
import { ANSWER_COST_MAX } from '../transport/answers/answer-limits.ts';
import { upstreamKey, openUpstreamSocket } from '../transport/upstream-socket.ts';
import { aborted, abortedUnsent, refused, timedOut } from './rpc-failures.ts';

/** The options of one call. */
export interface CallOptions<Result> {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Reads the result as soon as its frame arrives, before any later frame. */
  readonly read: (result: unknown) => Result;
  /** Called with a result that came after the call was abandoned. */
  readonly onLateResult?: (result: unknown) => void;
}

/** An open connection to a peer that speaks JSON-RPC 2.0 over WebSocket text frames; many calls may be pending. */
export interface RpcSocket {
  call<Result>(method: string, params: object, options: CallOptions<Result>): Promise<Result>;
  /** Calls without waiting for the response. */
  send(method: string, params: object): void;
  /** Sends a notification; false when the queue is full. */
  notify(method: string, params: object, queue: SendQueue): boolean;
  close(): void;
}

interface RpcSocketOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** How large a frame may be. */
  readonly frameBytesMax?: number | undefined;
  /** Reads a frame; `tryParseJson` unless parts of it are passed on. */
  readonly parse?: (text: string) => unknown;
  /** How often the peer must send something, such as a pong. */
  readonly heartbeatMs?: number;
  /** An exception ends the connection. */
  readonly onNotification?: (method: string, params: unknown, frameBytes: number) => void;
  /** Called once, when the connection is closed; every pending call has failed by then. */
  readonly onClosed?: (error: UpstreamFailure) => void;
}

/** Connects, and resolves when the socket is open. A later error closes the connection. */
export async function openRpcSocket(options: RpcSocketOptions): Promise<RpcSocket> {
  const calls = createPendingCalls<number, RpcMessage>();
  const { parse = tryParseJson } = options;
  const secret = upstreamKey(options.headers ?? {});
  let lastId = 0;

  function resultOf({ result, error }: RpcMessage): unknown {
    if (error !== undefined) throw refused(error, secret);
    return result;
  }

  function onMessage(message: unknown, frameBytes: number): void {
    if (!isMessage(message)) throw new Error('the upstream sent a frame that is not JSON-RPC');
    if (message.method !== undefined)
      options.onNotification?.(message.method, message.params, frameBytes);
    else if (typeof message.id === 'number') calls.settle(message.id, message);
    else throw new Error('the upstream sent a frame that is not JSON-RPC');
  }

  function onText(bytes: Buffer): void {
    if (bytes.length > METERED_BYTES_MIN && !createJsonMeter(ANSWER_COST_MAX).add(bytes))
      throw new Error('the upstream sent a frame with too many or too deeply nested values');
    onMessage(parse(bytes.toString('utf8')), bytes.length);
  }

  const socket = await openUpstreamSocket({
    url: options.url,
    frameBytesMax: options.frameBytesMax,
    headers: options.headers,
    connectTimeoutMs: options.connectTimeoutMs,
    heartbeatMs: options.heartbeatMs,
    onText,
    onClosed(failure) {
      calls.failAll(failure);
      options.onClosed?.(failure);
    },
  });

  async function call<Result>(
    method: string,
    params: object,
    { signal, timeoutMs, read, onLateResult }: CallOptions<Result>,
  ): Promise<Result> {
    if (signal.aborted) throw abortedUnsent(signal);
    if (!socket.isOpen) throw upstreamFailed('the connection is closed');
    lastId += 1;
    const id = lastId;
    socket.send(new RequestObject(id, method, params).serialize());
    const answer = calls.add(id, (message) => {
      const result = resultOf(message);
      if (!signal.aborted) return read(result);
      onLateResult?.(result);
      throw aborted(signal);
    });
    try {
      return await withTimeout(raceAbort(answer, signal, aborted), timeoutMs, () => {
        throw timedOut(timeoutMs);
      });
    } catch (error) {
      if (calls.fail(id, error) && onLateResult !== undefined)
        calls.add(id, (message) => onLateResult(resultOf(message))).catch(() => undefined);
      throw upstreamFailed(error);
    }
  }

  return {
    call,
    send(method, params) {
      // A closed peer need not be notified.
      if (socket.isOpen) socket.send(new RequestObject(0, method, params).serialize());
    },
    notify(method, params, queue) {
      const text = new NotificationObject(method, params).serialize();
      return queue.add(text, (onSent) => socket.send(text, onSent));
    },
    close: () => socket.end('the connection was closed'),
  };
}
