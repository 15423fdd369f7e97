import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of the relayed APIs that answers as a test says. */
export interface RelayUpstream {
  readonly url: string;
  /** Every call so far, apart from listings. */
  readonly calls: readonly ReceivedRequest[];
  /** How the next calls are answered; called when the head of a request has arrived. */
  answer(how: (call: ReceivedRequest) => unknown): void;
  /** Resolves when the condition holds; checked whenever something arrives or a connection ends. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** One call of the upstream. */
export interface ReceivedRequest {
  readonly path: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** How many bytes have arrived. */
  bytes: number;
  /** The connection ended before the answer. */
  isAborted: boolean;
  /** The whole body, unless it is large. */
  readonly body: Promise<Buffer>;
}

interface RelayUpstreamOptions {
  readonly models: readonly string[];
}

export async function startRelayUpstream({ models }: RelayUpstreamOptions): Promise<RelayUpstream> {
  const calls: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  let how: (call: ReceivedRequest) => unknown = ({ response }) => sendJson(response, {});
  const notice = (): void => {
    for (const check of waiting) check();
  };
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    if (request.url === '/v1/models') {
      sendJson(response, { data: models.map((id) => ({ id })) });
      return;
    }
    const call = callOf(request, response, notice);
    calls.push(call);
    notice();
    how(call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    answer: (next) => (how = next),
    until: (condition) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Answers with events, and ends only if `isEnd`. */
export function sendEvents(
  response: ServerResponse,
  events: readonly (object | string)[],
  isEnd = true,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
  if (isEnd) response.end();
}

/** Larger bodies only pass, so that tests can measure memory. */
const KEPT_BYTES_MAX = 1024 * 1024;

function callOf(
  request: IncomingMessage,
  response: ServerResponse,
  notice: () => void,
): ReceivedRequest {
  const chunks: Buffer[] = [];
  const call: ReceivedRequest = {
    path: request.url ?? '',
    request,
    response,
    bytes: 0,
    isAborted: false,
    body: new Promise((resolve) => {
      request.on('end', () => resolve(Buffer.concat(chunks)));
    }),
  };
  request.on('data', (chunk: Buffer) => {
    call.bytes += chunk.length;
    if (call.bytes <= KEPT_BYTES_MAX) chunks.push(chunk);
    notice();
  });
  request.on('error', () => undefined);
  response.on('close', () => {
    call.isAborted = !response.writableFinished;
    notice();
  });
  return call;
}
