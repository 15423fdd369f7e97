import type { TokenUsage } from '@model-gateway/contracts';
import type { AnswerWatch, Capability } from '@model-gateway/router';
import type { Caller } from '../chat/caller.ts';
import { allowedBy } from '../chat/model-rules.ts';
import {
  attempt,
  type ActiveAttempt,
  type AttemptDependencies,
  type Attempted,
  type RouteRequest,
} from '../upstream/attempts.ts';
import type { Ask } from '../upstream/retries.ts';
import type { Meter } from '../usage/meter.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import type { CallEnding } from '../usage/served-status.ts';
import type { AdmittedCall, CallContext, NamedModels } from './call.ts';
import { settle, type Observed } from './settle.ts';

/** The context of a call whose client may leave. */
export interface RunContext extends CallContext {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Calls the listener when the client has the answer, or has left. */
  readonly onEnd?: AnswerWatch['onEnd'];
}

/** What serving a call needs. */
export interface CallServices extends AttemptDependencies {
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
}

/** What the targets of a call must be able to do. */
interface Wanted extends Pick<
  RouteRequest,
  'answerKind' | 'canRepeat' | 'conversationId' | 'hasMedia' | 'provider' | 'unbilled'
> {
  readonly capability: Capability;
  /** What is billed when the client leaves while a target works on the call; undefined: the target did nothing with it. */
  readonly whenLeft: () => (Observed & { readonly usage: TokenUsage }) | undefined;
}

/** An admitted call while it is served. */
export interface RunningCall<Body = unknown> extends Pick<RunContext, 'signal' | 'onEnd'> {
  readonly caller: Caller;
  readonly body: Body;
  /** Asks one target after the other, until one answers. */
  attempt<Answer>(wanted: Wanted, ask: Ask<Answer>): Promise<Attempted<Answer>>;
  /** Settles the answer of a target, once; resolves to the billed usage. */
  settle(
    answered: ActiveAttempt,
    observed: Observed,
    ending: CallEnding,
  ): Promise<TokenUsage | undefined>;
}

/** A body with what routes it. */
interface RoutedBody extends NamedModels {
  readonly provider?: RouteRequest['provider'] | null;
}

/**
 * Serves a call that was admitted, unless it has its answer: it is tried on its targets until one answers, and settled. Its
 * reservation ends however that ends.
 */
export async function runCall<Body extends RoutedBody>(
  context: RunContext,
  admitting: Promise<AdmittedCall<Body> | undefined>,
  { router, telemetry, meter, requests }: CallServices,
  serve: (call: RunningCall<Body>) => Promise<void>,
): Promise<void> {
  const admitted = await admitting;
  if (admitted === undefined) return;
  const { caller, body, resolvedModel, fallbacks, reservation } = admitted;
  try {
    const { surface, refId, startedAt, signal, onEnd } = context;
    const { trace } = context.log;
    const { model } = body;
    const settled = { caller, surface, model, refId, reservation, trace, startedAt };
    await serve({
      caller,
      body,
      signal,
      onEnd,
      attempt: ({ whenLeft, ...wanted }, ask) =>
        attempt(
          { router, telemetry },
          {
            provider: body.provider ?? undefined,
            ...wanted,
            model,
            resolved: resolvedModel,
            fallbacks,
            allows: allowedBy(caller),
            signal,
            trace,
            onAccepted: () => requests.accepted(),
            async onLeft(lease) {
              const observed = whenLeft();
              if (observed !== undefined) await settle(settled, { lease }, observed, 'left', meter);
            },
          },
          ask,
        ),
      settle: (answered, observed, ending) => settle(settled, answered, observed, ending, meter),
    });
  } finally {
    reservation.end();
  }
}
