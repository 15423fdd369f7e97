import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts } from '@model-gateway/accounts';
import { isSessionId, ServiceError } from '@model-gateway/contracts';
import { bearerOf, requestIdOf } from '@model-gateway/http';
import type { Metrics } from '@model-gateway/kernel';
import type { Sessions } from '../sessions/sessions.ts';
import { UNSENT_BYTES_MAX } from './limits.ts';

interface SseDependencies {
  readonly sessions: Sessions;
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly metrics: Metrics;
  readonly keepaliveMs?: number;
}

/** `GET /api/rpc/events`: delivers the notifications of one session. */
export interface SseTransport {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends every open stream. */
  close(): void;
}

const KEEPALIVE_MS = 15_000;

export function createSseTransport(dependencies: SseDependencies): SseTransport {
  const { sessions, accounts, metrics, keepaliveMs = KEEPALIVE_MS } = dependencies;
  const open = new Set<ServerResponse>();
  // One clock for all streams: thousands of timers would cost more than the comments they send.
  const keepalive = setInterval(() => {
    for (const response of open) write(response, ': keepalive\n\n');
  }, keepaliveMs);
  keepalive.unref();
  metrics.gauge({
    name: 'service_rpc_event_streams',
    help: 'Open notification streams.',
    collect: (gauge) => gauge.set(open.size),
  });

  async function refuseStrangers(
    sessionId: string,
    request: IncomingMessage,
    query: URLSearchParams,
  ): Promise<void> {
    const token = bearerOf(request) ?? query.get('token') ?? undefined;
    if (token === undefined) return;
    const owner = await sessions.ownerOf(sessionId);
    if (owner === undefined) return;
    const user = await accounts.authenticate(token);
    if (user !== undefined && user.id !== owner) {
      throw new ServiceError('session_forbidden', 'this session belongs to another user');
    }
  }

  return {
    async answer(request, response) {
      requestIdOf(request, response);
      if (request.method !== 'GET') {
        response.setHeader('allow', 'GET');
        throw new ServiceError('method_not_allowed', 'use GET');
      }
      const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
      const sessionId = query.get('session') ?? '';
      if (!isSessionId(sessionId)) {
        throw new ServiceError(
          'bad_session',
          'session must be 1 to 128 characters out of A-Z a-z 0-9 . _ : -',
        );
      }
      await refuseStrangers(sessionId, request, query);
      // What arrives before the stream has begun waits for it.
      const early: string[] = [];
      const subscription = await sessions.listen(sessionId, (message) => {
        const event = `data: ${message}\n\n`;
        if (response.headersSent) write(response, event);
        else early.push(event);
      });
      response.once('close', () => {
        open.delete(response);
        void subscription.close();
      });
      if (response.destroyed) {
        await subscription.close();
        return;
      }
      open.add(response);
      begin(response);
      for (const event of early.splice(0)) write(response, event);
    },
    close() {
      clearInterval(keepalive);
      for (const response of open) response.end();
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
  // Said only now that the subscription is live: whoever reads it will miss nothing that comes later.
  response.write(': connected\n\n');
}

/** Writes without waiting; a reader that is too slow loses the connection instead of taking our memory. */
function write(response: ServerResponse, text: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.write(text);
  if (response.writableLength > UNSENT_BYTES_MAX) response.destroy();
}
