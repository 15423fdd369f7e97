import { RequestError, type Requests, type Subscription } from '@model-gateway/kernel';
import { z } from 'zod';

/** What a client asks of a session, on its way to the process that holds it. */
export const sessionRequestSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('event'),
    userId: z.string(),
    event: z.looseObject({ type: z.string() }),
  }),
  z.object({ kind: z.literal('stop'), userId: z.string() }),
]);
export type SessionRequest = z.output<typeof sessionRequestSchema>;

const OUTCOMES = ['done', 'congested', 'not_found'] as const;
const outcomeSchema = z.enum(OUTCOMES);

/** What became of it. Somebody else's session is not found. */
export type SessionOutcome = z.output<typeof outcomeSchema> | 'silent';

/** Carries requests to the process that holds a session. */
export interface SessionRelay {
  serve(
    sessionId: string,
    answer: (request: SessionRequest) => SessionOutcome,
  ): Promise<Subscription>;
  ask(sessionId: string, request: SessionRequest): Promise<SessionOutcome>;
}

/** Together with everything else, a call to a session whose process is gone is answered within a second. */
const ANSWER_TIMEOUT_MS = 700;

export function createSessionRelay(requests: Requests): SessionRelay {
  return {
    serve: (sessionId, answer) =>
      requests.serve(addressOf(sessionId), async (payload) =>
        answer(sessionRequestSchema.parse(payload)),
      ),
    async ask(sessionId, request) {
      try {
        const timeout = { timeoutMs: ANSWER_TIMEOUT_MS };
        return outcomeSchema.parse(await requests.call(addressOf(sessionId), request, timeout));
      } catch (error) {
        // Its process is gone, and the session with it.
        if (error instanceof RequestError && error.reason === 'unreachable') return 'not_found';
        return 'silent';
      }
    },
  };
}

const addressOf = (sessionId: string): string => `realtime:${sessionId}`;
