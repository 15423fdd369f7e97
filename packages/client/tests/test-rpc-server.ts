import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

/** A request that the server has read. */
interface Received {
  readonly id: unknown;
  readonly method: string;
  readonly params: unknown;
}

/** Handles one request; `undefined` sends no response. */
export type Answer = (request: Received) => Promise<object | undefined>;

/** A small HTTP server with the three endpoints of the RPC plane, for tests of the client. */
export interface TestRpcServer {
  readonly url: string;
  /** The headers of the requests over HTTP, in order. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** The URLs of the opened sockets, in order. */
  readonly socketUrls: readonly string[];
  readonly sockets: ReadonlySet<WebSocket>;
  /** The open event streams, by session. */
  readonly streams: ReadonlyMap<string, ServerResponse>;
  /** Resolves with the event stream of a session once it is open. */
  streamOf(session: string): Promise<ServerResponse>;
  close(): Promise<void>;
}

interface TestRpcServerOptions {
  readonly answer: Answer;
  /** Handles other paths, for example files. */
  readonly fallback?: (request: IncomingMessage, response: ServerResponse) => void;
  /** Whether an event stream sends `: connected` immediately. */
  readonly sendsConnected?: boolean;
}

export async function startTestRpcServer({
  answer,
  fallback = (_, response) => response.writeHead(404).end(),
  sendsConnected = true,
}: TestRpcServerOptions): Promise<TestRpcServer> {
  const headers: IncomingHttpHeaders[] = [];
  const socketUrls: string[] = [];
  const streams = new Map<string, ServerResponse>();
  const awaited = new Map<string, (stream: ServerResponse) => void>();

  async function answerText(text: string): Promise<string | undefined> {
    const message = JSON.parse(text) as Received | Received[];
    if (!Array.isArray(message)) return JSON.stringify(await answerOne(message));
    const answers = [];
    for (const request of message) answers.push(await answerOne(request));
    return JSON.stringify(answers);
  }
  async function answerOne(request: Received): Promise<object | undefined> {
    const outcome = await answer(request);
    return outcome === undefined ? undefined : { jsonrpc: '2.0', id: request.id, ...outcome };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const session = url.searchParams.get('session');
    if (url.pathname === '/api/rpc/events' && session !== null) {
      headers.push(request.headers);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      if (sendsConnected) response.write(': connected\n\n');
      streams.set(session, response);
      awaited.get(session)?.(response);
    } else if (url.pathname === '/api/rpc' && request.method === 'POST') {
      headers.push(request.headers);
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
      const body = await answerText(text);
      if (body !== undefined) response.setHeader('content-type', 'application/json').end(body);
    } else {
      fallback(request, response);
    }
  }

  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const webSockets = new WebSocketServer({ server, path: '/api/rpc' });
  webSockets.on('connection', (socket, request) => {
    socketUrls.push(request.url ?? '');
    socket.on('message', (data: Buffer) => {
      answerText(data.toString()).then(
        (text) => text !== undefined && socket.send(text),
        () => socket.close(1011),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    headers,
    socketUrls,
    sockets: webSockets.clients,
    streams,
    streamOf(session) {
      const open = streams.get(session);
      if (open !== undefined) return Promise.resolve(open);
      return new Promise((resolve) => {
        awaited.set(session, resolve);
      });
    },
    async close() {
      for (const socket of webSockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
