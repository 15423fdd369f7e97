import { createServer, type ServerResponse } from 'node:http';
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
  /** What the last request said. */
  lastAsked(): ModelRequest;
  close(): Promise<void>;
}

/** One that speaks HTTP. */
export interface WireServer extends MatrixUpstream {
  /** Ends the bodies of the next answers this late; `Infinity`: never. */
  endAfter(milliseconds: number): void;
  /** How many connections are open. */
  connections(): number;
}

export async function startWireServer(api: UpstreamApi): Promise<WireServer> {
  const requests: Fields[] = [];
  let answerAfterMs = 0;
  let endAfterMs = 0;
  let next = { status: 200, type: 'application/json', text: '{}' };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.method === 'GET') {
        response.end(JSON.stringify(api.listing));
        return;
      }
      requests.push(JSON.parse(Buffer.concat(parts).toString()) as Fields);
      if (answerAfterMs === 0) send(response);
      else setTimeout(() => send(response), answerAfterMs);
    });
  });
  function send(response: ServerResponse): void {
    // So that a rate limit ends at once.
    response.writeHead(next.status, { 'content-type': next.type, 'retry-after': '0' });
    if (endAfterMs === 0) {
      response.end(next.text);
      return;
    }
    response.write(next.text);
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
    lastAsked: () => api.read(requests.at(-1) ?? {}),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
