import { withTimeout } from '@model-gateway/kernel';
import type { Lease } from '@model-gateway/router';
import { askWithin, type Ask } from './retries.ts';
import type { TrackedAttempt, UpstreamTelemetry } from './upstream-telemetry.ts';

/** A target that was asked. */
export interface AskedTarget {
  readonly lease: Lease;
  readonly tracked: TrackedAttempt;
  /** By `performance.now()`. */
  readonly startedAt: number;
}

/** One that has not begun to answer. */
interface PendingTarget<Answer> extends AskedTarget {
  readonly answer: Promise<Answer>;
  /** Resolves when the first byte of a whole answer has arrived; the beginning of a stream is its answer. */
  readonly begun: Promise<void>;
  /** Resolves when it has answered or failed. */
  readonly ended: Promise<unknown>;
  /** Ends it, because another target answered first. */
  leave(): void;
}

/** A target that failed before it began to answer. */
export interface FailedTarget {
  readonly target: AskedTarget;
  readonly failure: unknown;
}

/** The target that began to answer, if one did, and what became of the others. */
interface Race<Answer> {
  readonly winner: { readonly target: AskedTarget; readonly answer: Answer } | undefined;
  /** Was cancelled, because the winner was faster. */
  readonly loser: PendingTarget<Answer> | undefined;
  /** In the order of their failures. */
  readonly failed: readonly FailedTarget[];
}

interface TargetRequest<Answer> {
  readonly telemetry: UpstreamTelemetry;
  readonly capability: Parameters<UpstreamTelemetry['begin']>[0];
  readonly signal: AbortSignal;
  readonly ask: Ask<Answer>;
}

/** Sends a request to a target; it can be cancelled without the other targets. */
export function askTarget<Answer>(
  lease: Lease,
  { telemetry, capability, signal, ask }: TargetRequest<Answer>,
): PendingTarget<Answer> {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => void (begin = resolve));
  const controller = new AbortController();
  const follow = (): void =>
    controller.abort(signal.reason instanceof Error ? signal.reason : new Error('the caller left'));
  if (signal.aborted) follow();
  // The listener stays after the first byte, so that a client that leaves also ends the rest of the answer.
  signal.addEventListener('abort', follow, { once: true });
  const tracked = telemetry.begin(capability, lease.backend, lease.model);
  const startedAt = performance.now();
  const answer = tracked.run(() => askWithin(lease, controller.signal, ask, () => begin()));
  return {
    lease,
    tracked,
    startedAt,
    begun,
    answer,
    // The failure of the target that lost is ignored.
    ended: answer.catch(() => undefined),
    leave: () => {
      signal.removeEventListener('abort', follow);
      controller.abort(new Error('another target answered first'));
    },
  };
}

type Outcome<Answer> = { readonly target: AskedTarget; readonly answer: Answer } | FailedTarget;

const outcomeOf = <Answer>(target: PendingTarget<Answer>): Promise<Outcome<Answer>> =>
  target.answer.then(
    (answer) => ({ target, answer }),
    (failure: unknown) => ({ target, failure }),
  );

/** Resolves when a target begins to answer, answers or fails. */
const firstSign = <Answer>(target: PendingTarget<Answer>, outcome: Promise<Outcome<Answer>>) =>
  Promise.race([outcome, target.begun.then(() => ({ target }))]);

/**
 * Waits for the first target, and asks a second one if the first has not begun after this time. The one that begins first is
 * used, and the other is cancelled.
 */
export async function race<Answer>(
  first: PendingTarget<Answer>,
  afterMs: number,
  askSecond: () => Promise<PendingTarget<Answer> | undefined>,
): Promise<Race<Answer>> {
  const ofFirst = outcomeOf(first);
  const early = await withTimeout(firstSign(first, ofFirst), afterMs, () => undefined);
  // A failed choice leaves the first target; if that fails as well, the choice is repeated and its error is thrown.
  const second = early === undefined ? await askSecond().catch(() => undefined) : undefined;
  if (second === undefined) return raceOf([await ofFirst]);
  const ofSecond = outcomeOf(second);
  const sign = await Promise.race([firstSign(first, ofFirst), firstSign(second, ofSecond)]);
  const isFirst = sign.target === first;
  if ('failure' in sign) return raceOf([sign, await (isFirst ? ofSecond : ofFirst)]);
  const loser = isFirst ? second : first;
  loser.leave();
  return raceOf([await (isFirst ? ofFirst : ofSecond)], loser);
}

function raceOf<Answer>(
  outcomes: readonly Outcome<Answer>[],
  loser?: PendingTarget<Answer>,
): Race<Answer> {
  const winner = outcomes.find((one) => 'answer' in one);
  const failed = outcomes.filter((one) => 'failure' in one);
  return { winner, loser, failed };
}
