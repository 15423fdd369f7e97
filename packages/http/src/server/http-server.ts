import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@model-gateway/contracts';
import {
  describeError,
  errorCode,
  startupError,
  type Log,
  type Metrics,
  type StartupError,
  type Tracing,
} from '@model-gateway/kernel';
import { breakOff, hasLastEvent, LAST_EVENT_MS } from '../responses/break-off.ts';
import { documentErrors, errorDocsPage } from '../responses/error-docs.ts';
import { createOriginCheck } from '../requests/origins.ts';
import { serveWithoutOffer, wantsWebSocket } from './other-protocols.ts';
import { createRequestObserver } from './request-observer.ts';
import { refuseUpgrade, sendRestError } from '../responses/rest-errors.ts';
import { simplifyTarget, type ServerApp } from './server-app.ts';

interface HttpServerOptions {
  readonly app: Pick<ServerApp, 'routes' | 'origins' | 'leanPaths' | 'handle' | 'upgrade'>;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  /** How long new requests are still served after a stop began, until load balancers notice it. */
  readonly drainDelaySecs?: number;
  readonly drainTimeoutMs?: number;
  /** A client that takes nothing of its answer for this long is disconnected. */
  readonly clientStallSecs?: number | undefined;
}

/** A listening server. */
export interface HttpServer {
  /** The IP address that it is bound to. */
  readonly address: string;
  readonly port: number;
  /**
   * Waits for the drain delay and lets requests in flight finish within a time limit; new requests are still served
   * meanwhile. Then it accepts no more connections, and closes each one once it has answered what had begun to arrive.
   */
  drain(): Promise<void>;
}

export const CLIENT_STALL_SECS = 120;
const DRAIN_TIMEOUT_MS = 30_000;
/** The part of the time limit in which new requests are served. The rest is for the last of them. */
const ACCEPTING_SHARE = 5 / 6;
/** How long a connection without any request is kept when the server stops. */
const SILENT_MS = 250;
const STOPPING = new ServiceError('overloaded', 'the service is stopping; send the request again');
// Longer than the idle timeouts of common load balancers, so that the load balancer closes idle connections first.
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const HEADERS_TIMEOUT_MS = 80_000;
const SECOND_MS = 1_000;

/** Rejects when the server cannot listen on the address; checked before other resources are opened. */
export async function checkAddress(host: string, port: number): Promise<void> {
  const server = createServer();
  await open(server, host, port);
  await close(server);
}

export async function listen(options: HttpServerOptions): Promise<HttpServer> {
  const { app, host, port, log, metrics, tracing } = options;
  const { drainDelaySecs = 0, drainTimeoutMs = DRAIN_TIMEOUT_MS } = options;
  const { clientStallSecs = CLIENT_STALL_SECS } = options;
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
  });
  server.setTimeout(clientStallSecs * SECOND_MS);
  const inFlight = trackRequests();
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    if (connections.has(socket)) return;
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  const isAllowedOrigin = createOriginCheck(host, app.origins);
  const observe = createRequestObserver({
    routes: app.routes,
    leanPaths: app.leanPaths,
    metrics,
    tracing,
    log,
    onClose: (response) => inFlight.end(response),
  });
  const publicUrl = app.origins?.publicUrl;
  const errorPage = publicUrl === undefined ? undefined : errorDocsPage(publicUrl);
  server.on('request', (request, response) => {
    simplifyTarget(request);
    inFlight.begin(response);
    response.on('timeout', disconnectStalled);
    if (errorPage !== undefined) documentErrors(response, errorPage);
    observe(request, response, () => {
      if (isAllowedOrigin(request)) app.handle(request, response);
      else sendRestError(originNotAllowed(), request, response, log);
    });
  });
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    if (!wantsWebSocket(request)) {
      serveWithoutOffer(server, request, socket, head);
      return;
    }
    simplifyTarget(request);
    // Without a listener an error of a half-open socket would end the process.
    socket.on('error', () => socket.destroy());
    if (!isAllowedOrigin(request)) refuseUpgrade(socket, originNotAllowed());
    else if (app.upgrade === undefined)
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    else app.upgrade(request, socket, head);
  });
  await open(server, host, port);
  const address = boundAddress(server);
  log.info({ host, port: address.port }, 'listening');
  return {
    address: address.address,
    port: address.port,
    async drain() {
      inFlight.drain();
      if (drainDelaySecs > 0) await sleep(drainDelaySecs * SECOND_MS);
      const endsAt = performance.now() + drainTimeoutMs;
      await inFlight.settled(drainTimeoutMs * ACCEPTING_SHARE);
      void closeSilent(connections);
      await closeAnswered(server, inFlight, endsAt - performance.now());
    },
  };
}

/**
 * Called when nothing was read or taken for the time of a stall. A client that reads no more would keep its answer in memory,
 * and its upstream at work; where nothing is to be taken, the client waits for its answer.
 */
function disconnectStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

const originNotAllowed = (): ServiceError =>
  new ServiceError(
    'origin_not_allowed',
    'web pages of this origin may not call; add it to SERVICE_CORS_ORIGINS',
  );

interface RequestsInFlight {
  begin(response: ServerResponse): void;
  end(response: ServerResponse): void;
  /** The responses that are not whole yet. */
  readonly responses: ReadonlySet<ServerResponse>;
  /** From now on every response closes its connection. */
  drain(): void;
  /** Resolves when no request is in flight, or after the time limit. */
  settled(timeoutMs: number): Promise<void>;
  /** Calls the listener now or when no request is in flight, and each time when that is so again. */
  onSettled(listener: () => void): void;
}

function trackRequests(): RequestsInFlight {
  const responses = new Set<ServerResponse>();
  let draining = false;
  let settled: () => void = () => undefined;
  return {
    responses,
    begin(response) {
      responses.add(response);
      if (draining) response.setHeader('connection', 'close');
    },
    end(response) {
      responses.delete(response);
      if (responses.size === 0) settled();
    },
    drain() {
      draining = true;
    },
    settled(timeoutMs) {
      if (responses.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        settled = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    onSettled(listener) {
      settled = listener;
      if (responses.size === 0) listener();
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
    throw listenError(error, host, port);
  }
}

function listenError(error: unknown, host: string, port: number): StartupError {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return startupError('port_in_use', { host, port }, error);
    case 'EACCES':
      return startupError('port_forbidden', { host, port }, error);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return startupError('address_unknown', { host }, error);
    default:
      return startupError('cannot_listen', { host, port, reason: describeError(error) }, error);
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

/**
 * Accepts no more connections and waits for the end of those that are open. A connection on which a request is arriving
 * is not idle.
 */
function closeAnswered(
  server: Server,
  inFlight: RequestsInFlight,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    let timer = setTimeout(() => {
      for (const response of inFlight.responses)
        if (hasLastEvent(response)) breakOff(response, STOPPING);
      timer = setTimeout(() => server.closeAllConnections(), LAST_EVENT_MS);
    }, timeoutMs);
    // The method of the HTTP server would also close connections whose answers are not sent yet.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(timer);
      resolve();
    });
    inFlight.onSettled(() => server.closeIdleConnections());
  });
}

/** Closes connections on which nothing has come yet: clients open some in advance, and the server does not call those idle. */
async function closeSilent(connections: ReadonlySet<Socket>): Promise<void> {
  await sleep(SILENT_MS);
  // What has arrived meanwhile is read first.
  await setImmediate();
  for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
}
