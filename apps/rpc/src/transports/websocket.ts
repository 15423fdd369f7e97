import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Accounts } from '@model-gateway/accounts';
import type { ClientIp } from '@model-gateway/http';
import type { Log, Metrics } from '@model-gateway/kernel';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Credentials } from '../protocol/authorise.ts';
import type { Caller, Dispatcher } from '../protocol/dispatcher.ts';
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
  /** Says goodbye to every socket, once the calls on it are answered or the time is up. */
  close(): Promise<void>;
}

const PING_MS = 30_000;
const PONGS_MISSED_MAX = 2;
const CALLS_IN_FLIGHT_MAX = 64;
const CLOSE_TIMEOUT_MS = 2_000;
/** A second less than connections are given, so that whoever waits for an answer is told. */
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
    const token =
      new URL(request.url ?? '/', 'http://localhost').searchParams.get('token') ?? undefined;
    if (token === undefined) return undefined;
    const ip = clientIp(request);
    if (isAdminToken(token)) return { bearer: token, clientIp: ip };
    const user = await accounts.authenticate(token);
    return user === undefined ? undefined : { bearer: undefined, userId: user.id, clientIp: ip };
  }

  function serve(socket: WebSocket, caller: Caller): void {
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
      void answer(socket, textOf(data), caller).finally(() => {
        const left = callsOn(socket) - 1;
        inFlight.set(socket, left);
        if (socket.isPaused && left < CALLS_IN_FLIGHT_MAX) socket.resume();
        if (left === 0 && closing !== undefined) sayGoodbye(socket);
        idle?.restart();
      });
    });
  }

  const callsOn = (socket: WebSocket): number => inFlight.get(socket) ?? 0;

  function sayGoodbye(socket: WebSocket): void {
    socket.close(CLOSE_GOING_AWAY, 'the service stops');
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  }

  /** Nobody is let in any more, and everybody goes when their calls are answered. */
  async function closeAll(): Promise<void> {
    clearInterval(heartbeat);
    server.close();
    const sockets = [...server.clients];
    const late = setTimeout(() => sockets.forEach(sayGoodbye), DRAIN_MS);
    await Promise.all(
      sockets.map((socket) => {
        const closed = new Promise<void>((resolve) => {
          socket.once('close', () => resolve());
        });
        if (callsOn(socket) === 0) sayGoodbye(socket);
        return closed;
      }),
    );
    clearTimeout(late);
  }

  async function answer(socket: WebSocket, text: string, caller: Caller): Promise<void> {
    const { text: reply, isLast } = await dispatcher.answer(text, caller);
    if (socket.readyState !== socket.OPEN) return;
    socket.send(reply);
    if (isLast) socket.close(CLOSE_NORMAL);
    if (socket.bufferedAmount > UNSENT_BYTES_MAX * 2) socket.terminate();
  }

  return {
    upgrade(request, socket, head) {
      // Authentication comes before the upgrade is answered, so that no frame can overtake it.
      credentialsOf(request)
        .catch((error: unknown) => {
          log.warn({ error }, 'a WebSocket could not be authenticated and stays anonymous');
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
