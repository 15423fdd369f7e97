import { isUnreachable, type Requests, type Subscription } from '@model-gateway/kernel';
import { z } from 'zod';

/** A client request to a session, sent to the process that has it. */
export const sessionRequestSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('event'),
    userId: z.string(),
    event: z.looseObject({ type: z.string() }),
  }),
  z.object({ kind: z.literal('stop'), userId: z.string() }),
  /** Only shows that the process of the session is there. */
  z.object({ kind: z.literal('check') }),
]);
export type SessionRequest = z.output<typeof sessionRequestSchema>;

const OUTCOMES = ['done', 'congested', 'not_found'] as const;
const outcomeSchema = z.enum(OUTCOMES);

/** The outcome of a request. The session of another user is `not_found`. */
export type SessionOutcome = z.output<typeof outcomeSchema> | 'no_reply';

/** Forwards requests to the process that has a session. */
export interface SessionRelay {
  serve(
    sessionId: string,
    handle: (request: SessionRequest) => SessionOutcome,
  ): Promise<Subscription>;
  forward(sessionId: string, request: SessionRequest): Promise<SessionOutcome>;
  /** Whether no process has the session. Never rejects; false where it cannot be known. */
  isLost(sessionId: string): Promise<boolean>;
}

/** So that a call to a session of a stopped process returns within a second. */
const REPLY_TIMEOUT_MS = 700;

export function createSessionRelay(requests: Requests): SessionRelay {
  return {
    serve: (sessionId, handle) =>
      requests.serve(addressOf(sessionId), async (payload) =>
        handle(sessionRequestSchema.parse(payload)),
      ),
    async forward(sessionId, request) {
      try {
        const timeout = { timeoutMs: REPLY_TIMEOUT_MS };
        return outcomeSchema.parse(await requests.call(addressOf(sessionId), request, timeout));
      } catch (error) {
        // Its process has stopped, and the session with it.
        return isUnreachable(error) ? 'not_found' : 'no_reply';
      }
    },
    isLost: (sessionId) =>
      requests
        .call(addressOf(sessionId), { kind: 'check' }, { timeoutMs: REPLY_TIMEOUT_MS })
        .then(() => false, isUnreachable),
  };
}

const addressOf = (sessionId: string): string => `realtime:${sessionId}`;
