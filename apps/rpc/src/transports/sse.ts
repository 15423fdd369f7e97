import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts, SignIn, SignInEnds } from '@model-gateway/accounts';
import { isSessionId, ServiceError } from '@model-gateway/contracts';
import { bearerOf, requestIdOf } from '@model-gateway/http';
import type { Metrics } from '@model-gateway/kernel';
import type { Sessions } from '../sessions/sessions.ts';
import type { ConnectionPlaces } from './connection-places.ts';
import type { ClientOf } from './client-of.ts';
import { UNSENT_BYTES_MAX } from './limits.ts';
import { createSignedInSockets } from './signed-in-sockets.ts';

interface SseDependencies {
  readonly sessions: Pick<Sessions, 'listen' | 'ownerOf'>;
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly signInEnds: Pick<SignInEnds, 'hasEnded' | 'onEnd'>;
  readonly clientOf: ClientOf;
  readonly places: Pick<ConnectionPlaces, 'take'>;
  readonly metrics: Metrics;
  /** Whether the copies of an authenticated call reach only listeners that are authenticated as the same user. */
  readonly sessionAuth: boolean;
  /** The last message of a session whose process has ended without one; undefined for others. Never rejects. */
  readonly endOfLost: (sessionId: string) => Promise<string | undefined>;
  readonly keepaliveMs?: number;
}

/** `GET /api/rpc/events`: delivers the notifications of one session. */
export interface SseTransport {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends the streams without pending events, and the others once they are silent. */
  drain(isBusy: (sessionId: string) => boolean): void;
  /** Ends every open stream. */
  close(): void;
}

interface OpenStream {
  readonly sessionId: string;
  /** The time of the last message, by the monotonic clock of the process. */
  lastMessageAt: number;
  /** Whether the process of the session seemed to have ended when this was last checked. */
  seemsLost: boolean;
  /** Whether the last message said that the process has ended: no other one follows. */
  isLost: boolean;
}

const KEEPALIVE_MS = 15_000;
/** Another process may publish to a stream: while messages arrive, there may be more. */
const SILENT_AFTER_MS = 1_000;
const DRAIN_CHECK_MS = 250;

export function createSseTransport(dependencies: SseDependencies): SseTransport {
  const { sessions, accounts, signInEnds, clientOf, places, metrics, sessionAuth } = dependencies;
  const { endOfLost, keepaliveMs = KEEPALIVE_MS } = dependencies;
  const open = new Map<ServerResponse, OpenStream>();
  const signedIn = createSignedInSockets<ServerResponse>();
  /** Streams whose sign-in ended while they were being opened; they end as soon as they have begun. */
  const signedOut = new WeakSet<ServerResponse>();
  const stopWatching = signInEnds.onEnd((end) => {
    for (const response of signedIn.of(end)) {
      signedOut.add(response);
      if (response.headersSent) response.end();
    }
  });
  let draining: NodeJS.Timeout | undefined;
  // One timer for all streams: thousands of timers would cost more than the comments they send.
  const keepalive = setInterval(() => {
    for (const [response, stream] of open) {
      write(response, ': keepalive\n\n');
      const isSilent = performance.now() - stream.lastMessageAt >= keepaliveMs;
      if (isSilent && !stream.isLost) void endLost(response, stream);
    }
  }, keepaliveMs);
  keepalive.unref();
  metrics.gauge({
    name: 'service_rpc_event_streams',
    help: 'Open notification streams.',
    collect: (gauge) => gauge.set(open.size),
  });

  /** A process may also be unreachable for a moment: it is lost when two checks in a row have not found it. */
  async function endLost(response: ServerResponse, stream: OpenStream): Promise<void> {
    const end = await endOfLost(stream.sessionId);
    stream.isLost = end !== undefined && stream.seemsLost;
    stream.seemsLost = end !== undefined;
    if (stream.isLost) write(response, `data: ${end}\n\n`);
  }

  /** The sign-in that the listener is authenticated by. Refuses a user that does not own the session. */
  async function listenerOf(
    sessionId: string,
    request: IncomingMessage,
    query: URLSearchParams,
  ): Promise<SignIn | undefined> {
    const token = bearerOf(request) ?? query.get('token') ?? undefined;
    if (token === undefined) return undefined;
    const owner = await sessions.ownerOf(sessionId);
    const signIn = (await accounts.authenticate(token))?.signIn;
    if (owner !== undefined && signIn !== undefined && signIn.userId !== owner) {
      throw new ServiceError('session_forbidden', 'this session belongs to another user');
    }
    return signIn;
  }

  return {
    async handle(request, response) {
      requestIdOf(request, response);
      if (request.method !== 'GET') {
        response.setHeader('allow', 'GET');
        throw new ServiceError('method_not_allowed', 'use GET');
      }
      const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
      const [sessionId = '', ...others] = query.getAll('session');
      if (!isSessionId(sessionId) || others.length > 0) {
        throw new ServiceError(
          'bad_session',
          'session must be given once, 1 to 128 characters out of A-Z a-z 0-9 . _ : -',
        );
      }
      const signIn = await listenerOf(sessionId, request, query);
      const userId = signIn?.userId;
      if (signIn !== undefined && !response.destroyed) {
        signedIn.add(response, signIn);
        response.once('close', () => signedIn.remove(response, signIn));
      }
      const leave = await places.take(clientOf(request), userId);
      if (response.destroyed) leave();
      else response.once('close', leave);
      // Messages that arrive before the stream has begun are buffered.
      const early: string[] = [];
      const stream: OpenStream = {
        sessionId,
        lastMessageAt: -Infinity,
        seemsLost: false,
        isLost: false,
      };
      const onMessage = (message: string): void => {
        if (stream.isLost) return;
        stream.lastMessageAt = performance.now();
        stream.seemsLost = false;
        const event = `data: ${message}\n\n`;
        if (response.headersSent) write(response, event);
        else early.push(event);
      };
      const subscription = await sessions.listen(
        sessionId,
        onMessage,
        sessionAuth ? userId : undefined,
      );
      response.once('close', () => {
        open.delete(response);
        void subscription.close();
      });
      if (response.destroyed) {
        await subscription.close();
        return;
      }
      open.set(response, stream);
      begin(response);
      // The sign-in may have ended while the stream was being opened.
      const hasEnded = signIn !== undefined && signInEnds.hasEnded(signIn);
      if (hasEnded || signedOut.has(response)) response.end();
      for (const event of early.splice(0)) write(response, event);
    },
    drain(isBusy) {
      const endSilent = (): void => {
        for (const [response, { sessionId, lastMessageAt }] of open) {
          const isSilent = performance.now() - lastMessageAt >= SILENT_AFTER_MS;
          if (isSilent && !isBusy(sessionId)) response.end();
        }
      };
      endSilent();
      draining ??= setInterval(endSilent, DRAIN_CHECK_MS);
    },
    close() {
      clearInterval(keepalive);
      clearInterval(draining);
      stopWatching();
      for (const response of open.keys()) response.end();
    },
  };
}

function begin(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  response.socket?.setNoDelay(true);
  // Sent only after the subscription is live: a client that has read it misses no later event.
  response.write(': connected\n\n');
}

/** Writes without waiting; a reader that is too slow is disconnected, so that it does not fill the memory. */
function write(response: ServerResponse, text: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.write(text);
  if (response.writableLength > UNSENT_BYTES_MAX) response.destroy();
}
