import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError, errorCode, StartupError, type Log } from '@model-gateway/kernel';
import type { ServerApp } from './server-app.ts';

interface HttpServerOptions {
  readonly app: Pick<ServerApp, 'handle' | 'upgrade'>;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  readonly drainTimeoutMs?: number;
}

/** A listening server. */
export interface HttpServer {
  readonly port: number;
  /** Lets requests under way finish, for a bounded time, then closes everything. New requests are still served meanwhile. */
  drain(): Promise<void>;
}

const DRAIN_TIMEOUT_MS = 30_000;
// Longer than the idle time-outs of common load balancers, so that they and not we close idle connections.
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const HEADERS_TIMEOUT_MS = 80_000;

/** Rejects when the address cannot be listened on, before anything else has been opened for it. */
export async function checkAddress(host: string, port: number): Promise<void> {
  const server = createServer();
  await open(server, host, port);
  await close(server);
}

export async function listen(options: HttpServerOptions): Promise<HttpServer> {
  const { app, host, port, log, drainTimeoutMs = DRAIN_TIMEOUT_MS } = options;
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
  });
  const underWay = trackRequests(server);
  server.on('request', (request, response) => app.handle(request, response));
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    // Without a listener an error of a half-open socket would end the process.
    socket.on('error', () => socket.destroy());
    if (app.upgrade === undefined)
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    else app.upgrade(request, socket, head);
  });
  await open(server, host, port);
  const address = boundAddress(server);
  log.info({ host, port: address.port }, 'listening');
  return {
    port: address.port,
    async drain() {
      await underWay.settled(drainTimeoutMs);
      await close(server);
    },
  };
}

function trackRequests(server: Server): { settled(timeoutMs: number): Promise<void> } {
  let count = 0;
  let draining = false;
  let onSettled: () => void = () => undefined;
  server.on('request', (_request, response) => {
    count += 1;
    if (draining) response.setHeader('connection', 'close');
    response.once('close', () => {
      count -= 1;
      if (count === 0) onSettled();
    });
  });
  return {
    settled(timeoutMs) {
      draining = true;
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        onSettled = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}

async function open(server: Server, host: string, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    throw new StartupError(explainListenError(error, host, port), { cause: error });
  }
}

function explainListenError(error: unknown, host: string, port: number): string {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is taken; stop what uses it or set SERVICE_PORT to another port`;
    case 'EACCES':
      return `port ${port} on ${host} may not be opened by this user; set SERVICE_PORT to a port above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine; set SERVICE_HOST to one that is`;
    default:
      return `cannot listen on ${host} port ${port}: ${describeError(error)}`;
  }
}

function boundAddress(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
