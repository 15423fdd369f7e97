import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Accounts, SignInEnds } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import {
  bearerOf,
  COUNTED_BODY_BYTES_MIN,
  refuseUpgrade,
  type BodyMemory,
} from '@model-gateway/http';
import {
  createDeferred,
  createJsonMeter,
  newId,
  type Log,
  type Metrics,
} from '@model-gateway/kernel';
import { JsonRpcError } from 'jsonrpc-lite';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Credentials } from '../protocol/authorize.ts';
import type { RpcCaller, Dispatcher } from '../protocol/dispatcher.ts';
import { errorText } from '../protocol/response.ts';
import { toRpcError } from '../protocol/rpc-error.ts';
import { createCallsInFlight } from './calls-in-flight.ts';
import type { ConnectionPlaces } from './connection-places.ts';
import type { ClientOf } from './client-of.ts';
import { RPC_MESSAGE_BYTES_MAX, UNSENT_BYTES_MAX } from './limits.ts';
import { createSignedInSockets } from './signed-in-sockets.ts';
import { createSocketHeartbeat } from './socket-heartbeat.ts';

interface WebSocketDependencies {
  readonly dispatcher: Dispatcher;
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly signInEnds: Pick<SignInEnds, 'hasEnded' | 'onEnd'>;
  readonly isAdminToken: (bearer: string | undefined) => boolean;
  readonly clientOf: ClientOf;
  readonly places: Pick<ConnectionPlaces, 'take'>;
  readonly bodyMemory: BodyMemory;
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

const CLOSE_TIMEOUT_MS = 2_000;
/** One second less than the time limit of connections, so that clients still get a close frame. */
const DRAIN_MS = 29_000;
const TOO_MANY_VALUES = new JsonRpcError(
  'Invalid request: the frame has too many or too deeply nested values',
  -32_600,
);
const CLOSE_NORMAL = 1000;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_TEXT_ONLY = 1003;
const CLOSE_IDLE = 1008;
/** The sign-in of the socket has ended. */
const CLOSE_SIGNED_OUT = 4401;
const SIGNED_OUT = 'this sign-in has ended';

export function createWebSocketTransport(dependencies: WebSocketDependencies): WebSocketTransport {
  const { dispatcher, accounts, signInEnds, isAdminToken, clientOf, anonymousIdleMs } =
    dependencies;
  const { places, bodyMemory, metrics, log } = dependencies;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: RPC_MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  });
  const heartbeat = createSocketHeartbeat(dependencies.pingMs);
  const calls = createCallsInFlight();
  const signedIn = createSignedInSockets<WebSocket>();
  /** They accept no more calls, and close when those in flight have finished. */
  const signedOut = new WeakSet<WebSocket>();
  let closing: Promise<void> | undefined;
  metrics.gauge({
    name: 'service_rpc_sockets',
    help: 'Open WebSockets of the management plane.',
    collect: (gauge) => gauge.set(server.clients.size),
  });

  /** Undefined for a socket that stays anonymous. */
  async function credentialsOf(request: IncomingMessage): Promise<Credentials | undefined> {
    const client = clientOf(request);
    const bearer = bearerOf(request);
    // Not in the URL: URLs are logged by proxies and kept by browsers.
    if (isAdminToken(bearer)) return { bearer, ...client };
    const token =
      bearer ?? new URL(request.url ?? '/', 'http://localhost').searchParams.get('token');
    if (token === null) return undefined;
    const found = await accounts.authenticate(token);
    return found && { bearer: undefined, signIn: found.signIn, ...client };
  }

  function serve(socket: WebSocket, caller: RpcCaller): void {
    heartbeat.watch(socket);
    socket.on('error', (error) => log.debug({ error }, 'a WebSocket failed'));
    const idle = caller.isAnonymousSocket ? idleTimer(socket) : undefined;
    const { signIn } = caller.credentials;
    if (signIn !== undefined) signedIn.add(socket, signIn);
    socket.once('close', () => {
      idle?.stop();
      if (signIn !== undefined) signedIn.remove(socket, signIn);
    });
    // The sign-in may have ended while the socket was being opened.
    if (signIn !== undefined && signInEnds.hasEnded(signIn)) signOut(socket);
    socket.on('message', (data, isBinary) => {
      idle?.restart();
      if (signedOut.has(socket)) return;
      if (isBinary) {
        socket.close(CLOSE_TEXT_ONLY, 'text frames only');
        return;
      }
      calls.begin(socket);
      const frame = bytesOf(data);
      const responding =
        frame.length > COUNTED_BODY_BYTES_MIN
          ? respondToLarge(socket, frame, caller)
          : respond(socket, frame, caller);
      void responding.finally(() => {
        calls.end(socket);
        if (calls.isIdle(socket)) closeIfDone(socket);
        idle?.restart();
      });
    });
  }

  /** Waits for the memory of a large frame. Meanwhile nothing more is read from its socket. */
  async function respondToLarge(
    socket: WebSocket,
    frame: Buffer,
    caller: RpcCaller,
  ): Promise<void> {
    const { signIn, clientIp } = caller.credentials;
    const { promise: settled, resolve: onSettled } = createDeferred<ServiceError | undefined>();
    const share = bodyMemory.take(signIn?.userId ?? clientIp, frame.length, onSettled);
    try {
      if (!share.isGranted) {
        calls.pauseReading(socket);
        const refusal = await settled;
        calls.continueReading(socket);
        if (refusal !== undefined) {
          socket.send(errorText('null', toRpcError(refusal, log)));
          return;
        }
      }
      await respond(socket, frame, caller);
    } finally {
      share.release();
    }
  }

  /** A socket that waits for a response is not idle: hashing a password can take long on a busy machine. */
  function idleTimer(socket: WebSocket): { restart(): void; stop(): void } {
    let isIdle = false;
    const closeIfIdle = (): void => {
      if (isIdle && calls.isIdle(socket)) socket.close(CLOSE_IDLE, 'idle');
    };
    const timer = setTimeout(() => {
      isIdle = true;
      // What arrived while this process was busy is read first.
      setImmediate(closeIfIdle);
    }, anonymousIdleMs);
    return {
      restart() {
        isIdle = false;
        timer.refresh();
      },
      stop: () => clearTimeout(timer),
    };
  }

  function closeSocket(
    socket: WebSocket,
    code = CLOSE_GOING_AWAY,
    reason = 'the service is stopping',
  ): void {
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  }

  /** Closes a socket that accepts no more calls. */
  function closeIfDone(socket: WebSocket): void {
    if (signedOut.has(socket)) closeSocket(socket, CLOSE_SIGNED_OUT, SIGNED_OUT);
    else if (closing !== undefined) closeSocket(socket);
  }

  /** The answers of calls in flight, such as `auth.logout` itself, are still sent. */
  function signOut(socket: WebSocket): void {
    signedOut.add(socket);
    if (calls.isIdle(socket)) closeSocket(socket, CLOSE_SIGNED_OUT, SIGNED_OUT);
    else
      setTimeout(() => closeSocket(socket, CLOSE_SIGNED_OUT, SIGNED_OUT), CLOSE_TIMEOUT_MS).unref();
  }

  const stopWatching = signInEnds.onEnd((end) => {
    for (const socket of signedIn.of(end)) signOut(socket);
  });

  /** Accepts no new sockets and closes each one when its calls have finished. */
  async function closeAll(): Promise<void> {
    heartbeat.stop();
    server.close();
    const sockets = [...server.clients];
    const late = setTimeout(() => sockets.forEach((socket) => closeSocket(socket)), DRAIN_MS);
    await Promise.all(
      sockets.map((socket) => {
        const closed = new Promise<void>((resolve) => {
          socket.once('close', () => resolve());
        });
        if (calls.isIdle(socket)) closeSocket(socket);
        return closed;
      }),
    );
    clearTimeout(late);
    stopWatching();
  }

  async function respond(socket: WebSocket, frame: Buffer, caller: RpcCaller): Promise<void> {
    if (!createJsonMeter().add(frame)) {
      socket.send(errorText('null', TOO_MANY_VALUES));
      return;
    }
    const { text, closesConnection, isSignedOut } = await dispatcher.dispatch(
      frame.toString('utf8'),
      caller,
    );
    if (socket.readyState !== socket.OPEN) return;
    // Measured before the response, so that a client that reads also gets large ones.
    if (socket.bufferedAmount > UNSENT_BYTES_MAX * 2) {
      socket.terminate();
      return;
    }
    socket.send(text);
    if (closesConnection) socket.close(CLOSE_NORMAL);
    if (isSignedOut) signOut(socket);
  }

  /** Authentication finishes before the upgrade, so that no frame arrives before it. */
  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const found = await credentialsOf(request).catch((error: unknown) => {
      log.warn({ error }, 'authenticating a WebSocket failed; it stays anonymous');
      return undefined;
    });
    const credentials = found ?? { bearer: undefined, ...clientOf(request) };
    // The operator is trusted, and has no user whose connections could be counted.
    if (found === undefined || found.signIn !== undefined) {
      const leave = await places.take(credentials, found?.signIn?.userId);
      if (socket.destroyed) leave();
      else socket.once('close', leave);
    }
    const caller = {
      credentials,
      isAnonymousSocket: found === undefined,
      isSocket: true,
      requestId: newId(),
    } as const;
    server.handleUpgrade(request, socket, head, (opened) => serve(opened, caller));
  }

  return {
    upgrade(request, socket, head) {
      accept(request, socket, head).catch((error: unknown) => {
        if (error instanceof ServiceError) refuseUpgrade(socket, error);
        else socket.destroy();
      });
    },
    close: () => (closing ??= closeAll()),
  };
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? Buffer.from(data) : data;
}
