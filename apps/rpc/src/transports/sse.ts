import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts } from '@model-gateway/accounts';
import { isSessionId, ServiceError } from '@model-gateway/contracts';
import { bearerOf, requestIdOf } from '@model-gateway/http';
import type { Metrics } from '@model-gateway/kernel';
import type { Sessions } from '../sessions/sessions.ts';
import { UNSENT_BYTES_MAX } from './limits.ts';

interface SseDependencies {
  readonly sessions: Pick<Sessions, 'listen' | 'ownerOf'>;
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly metrics: Metrics;
  readonly keepaliveMs?: number;
}

/** `GET /api/rpc/events`: delivers the notifications of one session. */
export interface SseTransport {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends the streams that nothing more is expected on, and the others once they have fallen silent. */
  drain(isBusy: (sessionId: string) => boolean): void;
  /** Ends every open stream. */
  close(): void;
}

interface OpenStream {
  readonly sessionId: string;
  /** When the last message came, by the clock of the process. */
  heardAt: number;
}

const KEEPALIVE_MS = 15_000;
/** A stream may be fed by another process: as long as messages come, there may be more. */
const SILENT_AFTER_MS = 1_000;
const DRAIN_CHECK_MS = 250;

export function createSseTransport(dependencies: SseDependencies): SseTransport {
  const { sessions, accounts, metrics, keepaliveMs = KEEPALIVE_MS } = dependencies;
  const open = new Map<ServerResponse, OpenStream>();
  let draining: NodeJS.Timeout | undefined;
  // One clock for all streams: thousands of timers would cost more than the comments they send.
  const keepalive = setInterval(() => {
    for (const response of open.keys()) write(response, ': keepalive\n\n');
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
      const [sessionId = '', ...others] = query.getAll('session');
      if (!isSessionId(sessionId) || others.length > 0) {
        throw new ServiceError(
          'bad_session',
          'session must be given once, 1 to 128 characters out of A-Z a-z 0-9 . _ : -',
        );
      }
      await refuseStrangers(sessionId, request, query);
      // What arrives before the stream has begun waits for it.
      const early: string[] = [];
      const stream: OpenStream = { sessionId, heardAt: -Infinity };
      const subscription = await sessions.listen(sessionId, (message) => {
        stream.heardAt = performance.now();
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
      open.set(response, stream);
      begin(response);
      for (const event of early.splice(0)) write(response, event);
    },
    drain(isBusy) {
      const endSilent = (): void => {
        for (const [response, { sessionId, heardAt }] of open) {
          const isSilent = performance.now() - heardAt >= SILENT_AFTER_MS;
          if (isSilent && !isBusy(sessionId)) response.end();
        }
      };
      endSilent();
      draining ??= setInterval(endSilent, DRAIN_CHECK_MS);
    },
    close() {
      clearInterval(keepalive);
      clearInterval(draining);
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
  // Said only now that the subscription is live: whoever reads it will miss nothing that comes later.
  response.write(': connected\n\n');
}

/** Writes without waiting; a reader that is too slow loses the connection instead of taking our memory. */
function write(response: ServerResponse, text: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.write(text);
  if (response.writableLength > UNSENT_BYTES_MAX) response.destroy();
}
