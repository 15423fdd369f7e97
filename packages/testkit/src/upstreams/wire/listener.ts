import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

/** The address of a server; by default a free port of 127.0.0.1. */
export interface ListenOptions {
  readonly port?: number;
  readonly host?: string;
}

/** A listening HTTP server that can be made unreachable and reachable again on its own port. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly server: Server;
  /** True while the server closes connections, so that these do not count as disconnects of clients. */
  readonly closing: boolean;
  /** Stops listening and closes every connection; the operating system refuses new ones. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  resume(): Promise<void>;
  /** Closes every connection and continues to listen. */
  dropConnections(): void;
  close(): Promise<void>;
}

// Long enough that a client's pooled connection is not closed while it sends a request.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

export async function listen(
  handle: RequestListener,
  { port = 0, host = '127.0.0.1' }: ListenOptions = {},
): Promise<Listener> {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, requestTimeout: 0 },
    handle,
  );
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  let closing = false;
  const boundPort = await bind(server, port, host);

  function dropConnections(): void {
    for (const socket of sockets) socket.destroy();
  }
  async function refuse(): Promise<void> {
    closing = true;
    const closed = server.listening
      ? new Promise<void>((resolve) => server.close(() => resolve()))
      : Promise.resolve();
    dropConnections();
    await closed;
  }

  return {
    host,
    port: boundPort,
    server,
    get closing() {
      return closing;
    },
    refuse,
    async resume() {
      if (!server.listening) await bind(server, boundPort, host);
      closing = false;
    },
    dropConnections,
    close: refuse,
  };
}

function bind(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
