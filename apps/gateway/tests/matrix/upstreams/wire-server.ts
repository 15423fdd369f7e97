import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelRequest, Fields, ModelAnswer } from '../facts.ts';
import type { UpstreamApi } from './upstream.ts';

/** A server of one upstream kind that answers what a test says and keeps what it was sent. */
export interface MatrixUpstream {
  readonly url: string;
  readonly requests: readonly Fields[];
  /** Answers the next requests, as a stream or whole. */
  answer(said: ModelAnswer, options: { readonly stream: boolean }): void;
  /** Refuses the next requests. */
  refuse(status: number, message: string): void;
  /** Answers the next requests this late. */
  answerAfter(milliseconds: number): void;
  /** The last request as it was sent. */
  lastText(): string;
  /** What the last request said. */
  lastAsked(): ModelRequest;
  close(): Promise<void>;
}

/** A request as it was sent. */
interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Resolves when its connection closes, or its response is sent. */
  readonly closed: Promise<unknown>;
}

/** A response to the byte. */
export interface WireResponse {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** What follows the text. */
  readonly ending?: 'end' | 'cut' | 'none';
}

/** One that speaks HTTP. */
export interface WireServer extends MatrixUpstream {
  readonly received: readonly ReceivedRequest[];
  /** Answers the next requests with these bytes. */
  respond(response: WireResponse): void;
  /** Ends the bodies of the next answers this late; `Infinity`: never. */
  endAfter(milliseconds: number): void;
  /** How many connections are open. */
  connections(): number;
}

export async function startWireServer(api: UpstreamApi): Promise<WireServer> {
  const requests: Fields[] = [];
  let answerAfterMs = 0;
  let endAfterMs = 0;
  const received: ReceivedRequest[] = [];
  let next: WireResponse = { status: 200, type: 'application/json', text: '{}' };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.method === 'GET') {
        response.end(JSON.stringify(api.listing));
        return;
      }
      const text = Buffer.concat(parts).toString();
      const { url: path = '', headers } = request;
      received.push({ path, headers, text, closed: once(response, 'close') });
      requests.push(JSON.parse(text) as Fields);
      if (answerAfterMs === 0) send(response);
      else setTimeout(() => send(response), answerAfterMs);
    });
  });
  function send(response: ServerResponse): void {
    // So that a rate limit ends at once.
    const { status, type, text, ending = 'end' } = next;
    response.writeHead(status, { 'content-type': type, 'retry-after': '0' });
    if (ending !== 'end') {
      response.write(text, () => {
        if (ending === 'cut') response.destroy();
      });
      return;
    }
    if (endAfterMs === 0) {
      response.end(text);
      return;
    }
    response.write(text);
    if (endAfterMs !== Infinity) setTimeout(() => response.end(), endAfterMs);
  }
  let open = 0;
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => void (open -= 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    received,
    respond(response) {
      next = response;
    },
    answer(said, { stream }) {
      next = stream
        ? { status: 200, ...api.stream(said) }
        : { status: 200, type: 'application/json', text: JSON.stringify(api.whole(said)) };
    },
    refuse(status, message) {
      const text = JSON.stringify(api.error(status, message));
      next = { status, type: 'application/json', text };
    },
    connections: () => open,
    answerAfter(milliseconds) {
      answerAfterMs = milliseconds;
    },
    endAfter(milliseconds) {
      endAfterMs = milliseconds;
    },
    lastText: () => received.at(-1)?.text ?? '',
    lastAsked: () => api.read(requests.at(-1) ?? {}),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
