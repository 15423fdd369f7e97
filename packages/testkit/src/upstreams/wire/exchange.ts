import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** One HTTP request and its response. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown;
  readonly response: ServerResponse;
  /** Aborted when the connection is closed, by either side. */
  readonly closed: AbortSignal;
  sendJson(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Sends a complete body of any type. */
  send(status: number, contentType: string, body: string | Buffer): void;
  /** Waits; returns false if the connection was closed meanwhile. */
  wait(milliseconds: number): Promise<boolean>;
  /** Resolves when the connection is closed. */
  untilClosed(): Promise<void>;
  /** Destroys the connection; with `reset` the client gets ECONNRESET. */
  cut(how?: 'reset'): void;
}

export function createExchange(
  request: IncomingMessage,
  response: ServerResponse,
  json: unknown,
  onDisconnect: () => void,
): Exchange {
  const url = new URL(request.url ?? '/', 'http://upstream.invalid');
  const controller = new AbortController();
  let isCutByServer = false;
  response.on('close', () => {
    controller.abort();
    if (!response.writableFinished && !isCutByServer) onDisconnect();
  });

  function send(
    status: number,
    contentType: string,
    content: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    response.writeHead(status, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(content),
      ...headers,
    });
    response.end(content);
  }

  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    json,
    response,
    closed: controller.signal,
    sendJson: (status, value, headers) =>
      send(status, 'application/json', JSON.stringify(value), headers),
    send: (status, contentType, content) => send(status, contentType, content),
    async wait(milliseconds) {
      await pause(milliseconds, undefined, { signal: controller.signal }).catch(() => undefined);
      return !controller.signal.aborted;
    },
    untilClosed: () =>
      controller.signal.aborted
        ? Promise.resolve()
        : new Promise((resolve) => controller.signal.addEventListener('abort', () => resolve())),
    cut(how) {
      isCutByServer = true;
      if (how === 'reset') request.socket.resetAndDestroy();
      else request.socket.destroy();
    },
  };
}
