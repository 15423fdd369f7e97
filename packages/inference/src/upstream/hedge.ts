import { createCanceller, withTimeout, type Cancel, type Canceller } from '@model-gateway/kernel';
import type { Lease } from '@model-gateway/router';
import { askWithin } from './retries.ts';
import type { UpstreamCall, UpstreamTelemetry } from './upstream-telemetry.ts';

/** A target that was asked and has not begun to answer. */
export interface PendingTarget {
  readonly lease: Lease;
  readonly call: UpstreamCall;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Resolves when the first byte of a whole answer has arrived; the beginning of a stream is its answer. */
  readonly begun: Promise<void>;
  /** Resolves when it has answered or failed. */
  readonly ended: Promise<unknown>;
  /** Ends it, because another target answered first. */
  leave(): void;
}

interface AnsweringTarget<Answer> extends PendingTarget {
  readonly answer: Promise<Answer>;
}

/** A target that failed before it began to answer. */
export interface FailedTarget {
  readonly target: PendingTarget;
  readonly failure: unknown;
}

/** The target that began to answer, if one did, and what became of the others. */
interface Race<Answer> {
  readonly winner: { readonly target: PendingTarget; readonly answer: Answer } | undefined;
  /** Was cancelled, because the winner was faster. */
  readonly loser: PendingTarget | undefined;
  /** In the order of their failures. */
  readonly failed: readonly FailedTarget[];
}

interface TargetRequest<Answer> {
  readonly telemetry: UpstreamTelemetry;
  readonly capability: Parameters<UpstreamTelemetry['begin']>[0];
  readonly signal: Cancel;
  readonly ask: (lease: Lease, signal: Cancel) => Promise<Answer>;
}

/** Sends a request to a target; it can be cancelled without the other targets. */
export function askTarget<Answer>(
  lease: Lease,
  { telemetry, capability, signal, ask }: TargetRequest<Answer>,
): AnsweringTarget<Answer> {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => void (begin = resolve));
  const canceller: Canceller = createCanceller(signal.onEnd, () => begin());
  const leave = (reason: Error): void => canceller.abort(reason);
  const follow = (): void =>
    leave(signal.reason instanceof Error ? signal.reason : new Error('the caller left'));
  if (signal.aborted) follow();
  // The listener stays after the first byte, so that a client that leaves also ends the rest of the answer.
  signal.addEventListener('abort', follow, { once: true });
  const call = telemetry.begin(capability, lease.backend, lease.model);
  const startedAt = performance.now();
  const answer = call.run(() => askWithin(lease, canceller.cancel, ask));
  return {
    lease,
    call,
    startedAt,
    begun,
    answer,
    // The failure of the target that lost is ignored.
    ended: answer.catch(() => undefined),
    leave: () => {
      signal.removeEventListener('abort', follow);
      leave(new Error('another target answered first'));
    },
  };
}

type TargetOutcome<Answer> =
  | { readonly target: PendingTarget; readonly isAnswer: true; readonly answer: Answer }
  | { readonly target: PendingTarget; readonly isAnswer: false; readonly failure: unknown };

const targetOutcome = <Answer>(target: AnsweringTarget<Answer>): Promise<TargetOutcome<Answer>> =>
  target.answer.then(
    (answer) => ({ target, isAnswer: true, answer }),
    (failure: unknown) => ({ target, isAnswer: false, failure }),
  );

/** Resolves when a target begins to answer, answers or fails. */
const firstSign = <Answer>(
  target: PendingTarget,
  outcome: Promise<TargetOutcome<Answer>>,
): Promise<
  TargetOutcome<Answer> | { readonly target: PendingTarget; readonly isAnswer: 'begun' }
> => Promise.race([outcome, target.begun.then(() => ({ target, isAnswer: 'begun' as const }))]);

/**
 * Waits for the first target, and asks a second one if the first has not begun after this time. The one that begins first is
 * used, and the other is cancelled.
 */
export async function race<Answer>(
  first: AnsweringTarget<Answer>,
  afterMs: number,
  askSecond: () => Promise<AnsweringTarget<Answer> | undefined>,
): Promise<Race<Answer>> {
  const ofFirst = targetOutcome(first);
  const early = await withTimeout(firstSign(first, ofFirst), afterMs, () => undefined);
  if (early !== undefined) return raceOf([await ofFirst], undefined);
  // A failed choice leaves the first target; if that fails as well, the choice is repeated and its error is thrown.
  const second = await askSecond().catch(() => undefined);
  if (second === undefined) return raceOf([await ofFirst], undefined);
  const ofSecond = targetOutcome(second);
  const sign = await Promise.race([firstSign(first, ofFirst), firstSign(second, ofSecond)]);
  const isFirst = sign.target === first;
  const [other, ofOther] = isFirst ? [second, ofSecond] : [first, ofFirst];
  if (sign.isAnswer === false) return raceOf([sign, await ofOther], undefined);
  other.leave();
  return raceOf([await (isFirst ? ofFirst : ofSecond)], other);
}

function raceOf<Answer>(
  outcomes: readonly TargetOutcome<Answer>[],
  loser: PendingTarget | undefined,
): Race<Answer> {
  const winner = outcomes.find((one) => one.isAnswer);
  const failed = outcomes.filter((one) => !one.isAnswer);
  return { winner, loser, failed };
}
