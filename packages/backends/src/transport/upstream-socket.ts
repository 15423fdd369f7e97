import type { IncomingMessage } from 'node:http';
import { startPeerTimeout, type PeerTimeout } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { WebSocket, type RawData } from 'ws';
import { ANSWER_BYTES_MAX, tooLarge } from './answers/answer-limits.ts';
import { readText } from './answers/read-text.ts';
import { RpcRefusal } from '../json-rpc/rpc-failures.ts';
import { cleanMessage, upstreamFailed, upstreamRefused } from '../errors/upstream-error.ts';

/** An open WebSocket with text frames to an upstream. */
export interface UpstreamSocket {
  readonly isOpen: boolean;
  /** Queues a frame; `onSent` is called when it was sent or has failed. */
  send(text: string, onSent?: () => void): void;
  /** Ends the connection at once. */
  end(reason: unknown): void;
  /** Sends a close frame, and ends the connection when the peer does not respond. No callback is called any more. */
  leave(): void;
}

interface UpstreamSocketOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly connectTimeoutMs: number;
  /** How often the peer must send something, such as a pong. */
  readonly heartbeatMs?: number | undefined;
  /** How large a frame may be. */
  readonly frameBytesMax?: number | undefined;
  /** Called with every text frame in order; an exception ends the connection. */
  readonly onText: (bytes: Buffer) => void;
  /** Called once, when the connection is closed, also if it never opened. */
  readonly onClosed: (failure: UpstreamFailure) => void;
}

const ERROR_BODY_BYTES_MAX = 64 * 1024;
const HEARTBEAT_MS = 15_000;
const CLOSE_TIMEOUT_MS = 2_000;
const NORMAL_CLOSE = 1000;

/** Connects, and resolves when the socket is open. A later error closes the connection. */
export function openUpstreamSocket(options: UpstreamSocketOptions): Promise<UpstreamSocket> {
  const { url, headers = {}, connectTimeoutMs, frameBytesMax = ANSWER_BYTES_MAX } = options;
  const secret = upstreamKey(headers);
  const socket = new WebSocket(url, {
    headers: { ...headers },
    handshakeTimeout: connectTimeoutMs,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
    followRedirects: false,
  });
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
    options.onClosed(failure);
  }
  function leave(): void {
    if (isOver) return;
    isOver = true;
    stopHeartbeat();
    socket.close(NORMAL_CLOSE);
    const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  }
  function onMessage(data: RawData, isBinary: boolean): void {
    if (isOver) return;
    try {
      if (isBinary) throw new Error('the upstream sent a frame that is not text');
      options.onText(bytesOf(data));
    } catch (error) {
      end(error);
    }
  }

  const opened: UpstreamSocket = {
    get isOpen() {
      return !isOver && socket.readyState === WebSocket.OPEN;
    },
    send: (text, onSent) => socket.send(text, () => onSent?.()),
    end,
    leave,
  };
  socket.on('message', onMessage);
  socket.on('error', (error) => end(isTooLong(error) ? tooLarge(frameBytesMax) : error));
  socket.on('close', (code, reason) =>
    end(closed(code, cleanMessage(reason.toString('utf8'), secret))),
  );
  return new Promise((resolve, reject) => {
    rejectOpening = reject;
    socket.on('open', () => resolve(opened));
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      void refusalOf(response, connectTimeoutMs).then(({ status, body }) => {
        const retryAfter = response.headers['retry-after'];
        const refused = upstreamRefused(status, body, secret, retryAfter);
        end(new RpcRefusal(refused.message, refused));
      });
    });
  });
}

/** The failure of an upstream that refused the WebSocket. */
async function refusalOf(
  response: IncomingMessage,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly body: string }> {
  response.setTimeout(timeoutMs, () => response.destroy());
  const body = await readText(response, ERROR_BODY_BYTES_MAX).catch(() => '');
  response.destroy();
  return { status: response.statusCode ?? 0, body };
}

/** The key that is sent to an upstream. */
export const upstreamKey = ({ authorization }: Readonly<Record<string, string>>): string | null =>
  authorization?.replace(/^bearer /i, '') ?? null;

function closed(code: number, reason: string): UpstreamFailure {
  const text = (why: string): string => `the upstream closed the connection (${why})`;
  return new UpstreamFailure(text(reason === '' ? `${code}` : `${code}: ${reason}`), {
    isBackendAtFault: true,
    // The reason can quote the prompt.
    loggedAs: text(`${code}`),
  });
}

const isTooLong = (error: Error): boolean =>
  'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** Pings; a peer that sends nothing between two pings counts as disconnected, whatever the state of TCP. */
function keepAlive(
  socket: WebSocket,
  intervalMs: number,
  onSilence: (error: Error) => void,
): () => void {
  let silence: PeerTimeout | undefined;
  const sign = (): void => {
    silence?.stop();
    silence = undefined;
  };
  socket.on('pong', sign);
  socket.on('message', sign);
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.ping();
    silence ??= startPeerTimeout(intervalMs, () =>
      onSilence(new Error(`the upstream did not reply to pings for ${intervalMs} ms`)),
    ).unref();
  }, intervalMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    sign();
  };
}
