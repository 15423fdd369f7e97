import type { UpstreamFailure } from '@model-gateway/router';
import { z } from 'zod';
import { parseJson } from '../transport/read-text.ts';
import type { SendQueue } from '../realtime/send-queue.ts';
import { createRpcCalls, type CallOptions } from './rpc-calls.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';
import { bearerOf, openUpstreamSocket } from '../transport/upstream-socket.ts';

/** An open connection to a peer that speaks JSON-RPC 2.0 over WebSocket text frames; many calls may be under way. */
export interface RpcSocket {
  call<Result>(method: string, params: unknown, options: CallOptions<Result>): Promise<Result>;
  /** Calls without waiting for the answer. */
  send(method: string, params: unknown): void;
  /** Says something that has no answer; false when the queue has no room for it. */
  notify(method: string, params: unknown, queue: SendQueue): boolean;
  close(): void;
}

interface RpcSocketOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** How often the peer must show that it is still there. */
  readonly heartbeatMs?: number;
  /** What it throws ends the connection. */
  readonly onNotification?: (method: string, params: unknown, frameBytes: number) => void;
  /** Told once, when the connection is over; every call under way has failed by then. */
  readonly onGone?: (error: UpstreamFailure) => void;
}

const frameSchema = z.union([
  z.object({ method: z.string(), params: z.unknown().optional() }),
  z.object({
    method: z.undefined().optional(),
    id: z.int(),
    result: z.unknown().optional(),
    error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
  }),
]);

/** Connects, and resolves when the socket is open. Anything that is wrong with the connection later ends it. */
export async function openRpcSocket(options: RpcSocketOptions): Promise<RpcSocket> {
  const calls = createRpcCalls(bearerOf(options.headers ?? {}));

  function onText(bytes: Buffer): void {
    const frame = readFrame(bytes);
    if (frame === undefined) throw new Error('the upstream sent a frame that is not JSON-RPC');
    if (frame.method === undefined) calls.settle(frame);
    else options.onNotification?.(frame.method, frame.params, bytes.length);
  }

  const socket = await openUpstreamSocket({
    url: options.url,
    headers: options.headers,
    connectTimeoutMs: options.connectTimeoutMs,
    heartbeatMs: options.heartbeatMs,
    onText,
    onGone(failure) {
      calls.failAll(failure);
      options.onGone?.(failure);
    },
  });

  return {
    call: (method, params, how) =>
      calls.add(how, (id) => {
        if (!socket.isOpen) throw upstreamFailed('the connection is closed');
        socket.send(frameText(id, method, params));
      }),
    send(method, params) {
      // A peer that is gone has nothing left to be told.
      if (socket.isOpen) socket.send(frameText(0, method, params));
    },
    notify(method, params, queue) {
      const text = frameText(undefined, method, params);
      return queue.add(text, (onSent) => socket.send(text, onSent));
    },
    close: () => socket.end('the connection was closed'),
  };
}

const frameText = (id: number | undefined, method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

function readFrame(bytes: Buffer): z.output<typeof frameSchema> | undefined {
  return frameSchema.safeParse(parseJson(bytes.toString('utf8'))).data;
}
