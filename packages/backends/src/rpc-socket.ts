import type { IncomingMessage } from 'node:http';
import type { UpstreamFailure } from '@model-gateway/router';
import { WebSocket, type RawData } from 'ws';
import { z } from 'zod';
import { parseJson } from './read-text.ts';
import { createRpcCalls, RpcRefusal, type CallOptions } from './rpc-calls.ts';
import { upstreamFailed, upstreamRefused } from './upstream-error.ts';

/** An open connection to a peer that speaks JSON-RPC 2.0 over WebSocket text frames; many calls may be under way. */
export interface RpcSocket {
  call<Result>(method: string, params: unknown, options: CallOptions<Result>): Promise<Result>;
  /** Calls without waiting for the answer. */
  send(method: string, params: unknown): void;
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

const FRAME_BYTES_MAX = 64 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;

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
export function openRpcSocket(options: RpcSocketOptions): Promise<RpcSocket> {
  const socket = new WebSocket(options.url, {
    headers: options.headers ?? {},
    handshakeTimeout: options.connectTimeoutMs,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
    followRedirects: false,
  });
  const calls = createRpcCalls();
  const stopHeartbeat = keepAlive(socket, options.heartbeatMs ?? HEARTBEAT_MS, (error) =>
    end(error),
  );
  let isOver = false;
  let rejectOpening: ((failure: UpstreamFailure) => void) | undefined;

  function end(reason: unknown): void {
    if (isOver) return;
    isOver = true;
    stopHeartbeat();
    socket.terminate();
    const failure = upstreamFailed(reason);
    rejectOpening?.(failure);
    calls.failAll(failure);
    options.onGone?.(failure);
  }
  function onMessage(data: RawData, isBinary: boolean): void {
    try {
      const bytes = bytesOf(data);
      const frame = isBinary ? undefined : readFrame(bytes);
      if (frame === undefined) throw new Error('the upstream sent a frame that is not JSON-RPC');
      if (frame.method === undefined) calls.settle(frame);
      else options.onNotification?.(frame.method, frame.params, bytes.length);
    } catch (error) {
      end(error);
    }
  }
  function write(id: number | undefined, method: string, params: unknown): void {
    if (socket.readyState !== WebSocket.OPEN) throw upstreamFailed('the connection is closed');
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  const opened: RpcSocket = {
    call: (method, params, how) => calls.add(how, (id) => write(id, method, params)),
    send(method, params) {
      // A peer that is gone has nothing left to be told.
      if (socket.readyState === WebSocket.OPEN) write(0, method, params);
    },
    close: () => end('the connection was closed'),
  };
  socket.on('message', onMessage);
  socket.on('error', end);
  socket.on('close', (code) => end(`the upstream closed the connection (${code})`));
  return new Promise((resolve, reject) => {
    rejectOpening = reject;
    socket.on('open', () => resolve(opened));
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      response.destroy();
      const refused = upstreamRefused(response.statusCode ?? 0, 'the WebSocket was refused');
      end(new RpcRefusal(refused.message, refused));
    });
  });
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

function readFrame(bytes: Buffer): z.output<typeof frameSchema> | undefined {
  return frameSchema.safeParse(parseJson(bytes.toString('utf8'))).data;
}

/** Pings; a peer that has shown no sign of life between two pings is gone, whatever TCP still believes. */
function keepAlive(
  socket: WebSocket,
  intervalMs: number,
  onSilence: (error: Error) => void,
): () => void {
  let isAlive = true;
  const sign = (): void => {
    isAlive = true;
  };
  socket.on('pong', sign);
  socket.on('message', sign);
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (!isAlive) onSilence(new Error(`the upstream gave no sign of life for ${intervalMs} ms`));
    else {
      isAlive = false;
      socket.ping();
    }
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
