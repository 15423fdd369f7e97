import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { extend } from './extend.ts';
import { listen, type ListenOptions } from './listener.ts';
import { runningServer, type RunningServer } from './running-server.ts';
import type { Changes } from '../recording/changes.ts';

/** A running WebSocket server. */
export interface RunningSocketServer extends RunningServer {
  /** Connections accepted so far. */
  readonly connectionCount: number;
  /** Connections open now. */
  readonly openConnections: number;
  /** Rejected upgrades. */
  readonly refusedCount: number;
}

interface SocketServerOptions extends ListenOptions {
  readonly changes: Changes;
  /** The status to reject an upgrade with; undefined accepts it. */
  readonly refuse: (request: IncomingMessage) => 400 | 401 | 404 | 503 | undefined;
  readonly onSocket: (socket: WebSocket, request: IncomingMessage) => void;
  /** Handles a plain request; by default it requires an upgrade. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
}

const FRAME_BYTES_MAX = 64 * 1024 * 1024;
const REASONS = { 400: 'Bad Request', 401: 'Unauthorized', 404: 'Not Found', 503: 'Unavailable' };

/** Starts a WebSocket server that can reject clients before the upgrade. */
export async function startSocketServer({
  changes,
  refuse,
  onSocket,
  onRequest = requireUpgrade,
  ...options
}: SocketServerOptions): Promise<RunningSocketServer> {
  const upgrader = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
  let connectionCount = 0;
  let refusedCount = 0;
  const listener = await listen(onRequest, options);

  listener.server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const status = refuse(request);
    if (status !== undefined) {
      refusedCount += 1;
      stream.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\nconnection: close\r\n\r\n`);
      changes.notify();
      return;
    }
    upgrader.handleUpgrade(request, stream, head, (socket) => {
      connectionCount += 1;
      // A broken frame or a lost connection also emits 'close'.
      socket.on('error', () => undefined);
      socket.on('close', () => changes.notify());
      onSocket(socket, request);
      changes.notify();
    });
  });

  return extend(runningServer('ws', listener, changes), {
    get connectionCount() {
      return connectionCount;
    },
    get openConnections() {
      return upgrader.clients.size;
    },
    get refusedCount() {
      return refusedCount;
    },
  });
}

function requireUpgrade(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(426, { upgrade: 'websocket' }).end();
}

/** Whether a request has the required bearer token; always true for a server without one. */
export function hasBearer(request: IncomingMessage, token: string | undefined): boolean {
  return token === undefined || request.headers.authorization === `Bearer ${token}`;
}
