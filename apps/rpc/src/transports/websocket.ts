import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Accounts } from '@model-gateway/accounts';
import { bearerOf, type ClientIp } from '@model-gateway/http';
import type { Log, Metrics } from '@model-gateway/kernel';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Credentials } from '../protocol/authorize.ts';
import type { RpcCaller, Dispatcher } from '../protocol/dispatcher.ts';
import { RPC_MESSAGE_BYTES_MAX, UNSENT_BYTES_MAX } from './limits.ts';

interface WebSocketDependencies {
  readonly dispatcher: Dispatcher;
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly isAdminToken: (bearer: string | undefined) => boolean;
  readonly clientIp: ClientIp;
  readonly anonymousIdleMs: number;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly pingMs?: number;
}

/** `GET /api/rpc` as a WebSocket: the same envelopes in text frames. */
export interface WebSocketTransport {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every socket, once its calls have finished or after a timeout. */
  close(): Promise<void>;
}

const PING_MS = 30_000;
const PONGS_MISSED_MAX = 2;
const CALLS_IN_FLIGHT_MAX = 64;
const CLOSE_TIMEOUT_MS = 2_000;
/** One second less than the time limit of connections, so that clients still get a close frame. */
const DRAIN_MS = 29_000;
const CLOSE_NORMAL = 1000;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_TEXT_ONLY = 1003;
const CLOSE_IDLE = 1008;

export function createWebSocketTransport(dependencies: WebSocketDependencies): WebSocketTransport {
  const { dispatcher, accounts, isAdminToken, clientIp, anonymousIdleMs, metrics, log } =
    dependencies;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: RPC_MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  });
  const missedPongs = new Map<WebSocket, number>();
  const inFlight = new WeakMap<WebSocket, number>();
  let closing: Promise<void> | undefined;
  const heartbeat = setInterval(() => {
    for (const [socket, missed] of missedPongs) {
      if (missed >= PONGS_MISSED_MAX) {
        socket.terminate();
      } else {
        missedPongs.set(socket, missed + 1);
        socket.ping();
      }
    }
  }, dependencies.pingMs ?? PING_MS);
  heartbeat.unref();
  metrics.gauge({
    name: 'service_rpc_sockets',
    help: 'Open WebSockets of the management plane.',
    collect: (gauge) => gauge.set(server.clients.size),
  });

  /** Undefined for a socket that stays anonymous. */
  async function credentialsOf(request: IncomingMessage): Promise<Credentials | undefined> {
    const ip = clientIp(request);
    const bearer = bearerOf(request);
    // Not in the URL: URLs are logged by proxies and kept by browsers.
    if (isAdminToken(bearer)) return { bearer, clientIp: ip };
    const token =
      bearer ?? new URL(request.url ?? '/', 'http://localhost').searchParams.get('token');
    if (token === null) return undefined;
    const user = await accounts.authenticate(token);
    return user === undefined ? undefined : { bearer: undefined, userId: user.id, clientIp: ip };
  }

  function serve(socket: WebSocket, caller: RpcCaller): void {
    missedPongs.set(socket, 0);
    socket.on('pong', () => missedPongs.set(socket, 0));
    socket.on('error', (error) => log.debug({ error }, 'a WebSocket failed'));
    const idle = caller.isAnonymousSocket ? idleTimer(socket, anonymousIdleMs) : undefined;
    socket.once('close', () => {
      missedPongs.delete(socket);
      idle?.stop();
    });
    socket.on('message', (data, isBinary) => {
      idle?.restart();
      if (isBinary) {
        socket.close(CLOSE_TEXT_ONLY, 'text frames only');
        return;
      }
      const begun = callsOn(socket) + 1;
      inFlight.set(socket, begun);
      if (begun >= CALLS_IN_FLIGHT_MAX) socket.pause();
      void respond(socket, textOf(data), caller).finally(() => {
        const left = callsOn(socket) - 1;
        inFlight.set(socket, left);
        if (socket.isPaused && left < CALLS_IN_FLIGHT_MAX) socket.resume();
        if (left === 0 && closing !== undefined) closeSocket(socket);
        idle?.restart();
      });
    });
  }

  const callsOn = (socket: WebSocket): number => inFlight.get(socket) ?? 0;

  function closeSocket(socket: WebSocket): void {
    socket.close(CLOSE_GOING_AWAY, 'the service is stopping');
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  }

  /** Accepts no new sockets and closes each one when its calls have finished. */
  async function closeAll(): Promise<void> {
    clearInterval(heartbeat);
    server.close();
    const sockets = [...server.clients];
    const late = setTimeout(() => sockets.forEach(closeSocket), DRAIN_MS);
    await Promise.all(
      sockets.map((socket) => {
        const closed = new Promise<void>((resolve) => {
          socket.once('close', () => resolve());
        });
        if (callsOn(socket) === 0) closeSocket(socket);
        return closed;
      }),
    );
    clearTimeout(late);
  }

  async function respond(socket: WebSocket, text: string, caller: RpcCaller): Promise<void> {
    const { text: reply, closesConnection } = await dispatcher.dispatch(text, caller);
    if (socket.readyState !== socket.OPEN) return;
    socket.send(reply);
    if (closesConnection) socket.close(CLOSE_NORMAL);
    if (socket.bufferedAmount > UNSENT_BYTES_MAX * 2) socket.terminate();
  }

  return {
    upgrade(request, socket, head) {
      // Authentication finishes before the upgrade, so that no frame arrives before it.
      credentialsOf(request)
        .catch((error: unknown) => {
          log.warn({ error }, 'authenticating a WebSocket failed; it stays anonymous');
          return undefined;
        })
        .then((credentials) => {
          const caller = {
            credentials: credentials ?? { bearer: undefined, clientIp: clientIp(request) },
            isAnonymousSocket: credentials === undefined,
          };
          server.handleUpgrade(request, socket, head, (opened) => serve(opened, caller));
        })
        .catch(() => socket.destroy());
    },
    close: () => (closing ??= closeAll()),
  };
}

function idleTimer(socket: WebSocket, idleMs: number): { restart(): void; stop(): void } {
  const timer = setTimeout(() => socket.close(CLOSE_IDLE, 'idle'), idleMs);
  return { restart: () => void timer.refresh(), stop: () => clearTimeout(timer) };
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8');
}
