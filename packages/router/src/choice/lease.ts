import type { Clock } from '@model-gateway/kernel';
import type { Outcome, Permit } from '../circuits/breakers.ts';
import type { TakenPlace } from '../limits/limits.ts';
import { outcomeOf, type Refused, type RouteOutcome } from '../refusals/outcome.ts';
import type { Refusals } from '../refusals/refusals.ts';
import type { Backend } from '../registry/backend.ts';
import { readyFirst, type Target } from '../registry/targets.ts';
import type { RetryPolicy } from '../routes/route-rule.ts';
import type { BackendQuery, Candidate } from './choice.ts';
import { ANSWER_KINDS, type AnswerKind, type FirstTokens } from './first-tokens.ts';
import type { RequestCounts } from './request-counts.ts';

/** A chosen target: it serves one request until it is settled. */
export interface Lease {
  /** The chosen backend, with one of its upstream keys. */
  readonly backend: Backend;
  /** The model id as the chosen backend lists it. */
  readonly model: string;
  /** How the request is tried again; undefined where no route says so. */
  readonly retries?: RetryPolicy | undefined;
  /**
   * After a failure that is about the upstream key: the same lease with the next key of its backend, in whose place it is
   * settled, if another one is ready. The failure is that of the key that is ready first, if several were refused.
   */
  nextKey(failure: unknown): { readonly next: Lease | undefined; readonly failure: unknown };
  /** Reports that the first token of a streamed answer has arrived. */
  begun(): void;
  /** Reports that another target, which took this long, answered the same request first; `settle` must still be called. */
  lost(kind: AnswerKind, otherMs: number): void;
  /** Reports a success to the circuit breaker while the backend is still serving: `settle` must still be called. */
  answered(): Promise<void>;
  /**
   * Reports the outcome of the request: `failure` when the backend is at fault, `neutral` when the request was refused,
   * `left` when the client left; `outcomeOf` tells the outcome of a failure. Only the first call counts. Every lease must be
   * settled when the backend has finished the request: it is not closed before. Resolves when the outcome is stored; never
   * rejects.
   */
  settle(outcome: RouteOutcome): Promise<void>;
}

/** A query, and what decides how a failure counts. */
export interface LeasedQuery extends BackendQuery {
  /** Whether it has images, audio or files, which may be why a backend fails with it; asked only when one does. */
  readonly hasMedia?: (() => boolean) | undefined;
}

/** Begins to serve a request with a candidate; a backend with limits has given it a place. */
export type BeginLease = (
  candidate: Candidate,
  permit: Permit,
  query: LeasedQuery,
  place?: TakenPlace,
) => Lease;

interface LeaseDependencies {
  readonly refusals: Pick<Refusals, 'add' | 'keyAccepted'>;
  readonly counts: Pick<RequestCounts, 'add'>;
  readonly firstTokens: Pick<FirstTokens, 'add' | 'medianMs'>;
  /** Called when an upstream refused the key of its backend, or one request. */
  readonly onKeyRefused: (name: string) => void;
  readonly clock: Clock;
}

/** How long one call takes. Only the first of these is noted. */
interface CallTimes {
  took(kind: AnswerKind): void;
  /** It ended without an answer: noted only where it took longer than answers usually do, or than this if none was measured. */
  tookLonger(kinds: readonly AnswerKind[], unmeasuredMs?: number): void;
}

export function createLeases(dependencies: LeaseDependencies): BeginLease {
  const { refusals, counts, firstTokens, onKeyRefused, clock } = dependencies;

  /** Notes once how long a backend took. */
  function timed(name: string, model: string): CallTimes {
    const startedAt = performance.now();
    let isNoted = false;
    const sinceStart = (): number | undefined => {
      if (isNoted) return undefined;
      isNoted = true;
      return performance.now() - startedAt;
    };
    return {
      took(kind) {
        const ms = sinceStart();
        if (ms !== undefined) firstTokens.add(name, model, kind, ms);
      },
      tookLonger(kinds, unmeasuredMs = Infinity) {
        const ms = sinceStart();
        if (ms === undefined) return;
        for (const kind of kinds) {
          const usual = firstTokens.medianMs(name, model, kind) ?? unmeasuredMs;
          if (ms > usual) firstTokens.add(name, model, kind, ms);
        }
      },
    };
  }

  /** A refusal is an answer, and no failure of the backend. */
  async function settleRefused(
    name: string,
    model: string,
    permit: Permit,
    outcome: Refused | undefined,
  ): Promise<void> {
    if (outcome === undefined) return permit.settle('success');
    const refusal =
      outcome.kind === 'rate_limited'
        ? { model, reason: 'rate limit', forMs: outcome.forMs }
        : {
            model: undefined,
            reason: outcome.reason,
            forMs: outcome.forMs,
            isSuspicion: outcome.isSuspicion,
          };
    if (outcome.kind === 'key_refused') onKeyRefused(name);
    const added = refusal.forMs === 0 ? undefined : refusals.add(name, refusal);
    await Promise.all([permit.settle('success'), added]);
  }

  return ({ entry, model }, permit, query, place) => {
    const { name } = entry.backend;
    const { rule } = query;
    counts.add(name);
    const leave = entry.use();
    let isSettled = false;
    const times = rule?.strategy === 'fastest' ? timed(name, model) : undefined;
    const [first, ...others] = entry.targets.inTurn(clock.now());
    /** The keys that were refused with this request. */
    let refused: Map<Target, unknown> | undefined;
    function rest(target: Target, outcome: Refused, failure?: unknown): readonly Target[] {
      refused ??= new Map<Target, unknown>();
      if (!refused.has(target)) {
        target.refusal = { outcome, until: clock.now() + outcome.forMs };
        refused.set(target, failure);
      }
      return [...refused.keys()];
    }
    const leaseOf = (target: Target): Lease => ({
      backend: target.backend,
      model,
      retries: rule,
      nextKey(failure) {
        const outcome = outcomeOf(failure);
        if (typeof outcome === 'string') return { next: undefined, failure };
        const resting = rest(target, outcome, failure);
        const next = others.shift();
        const soonest = readyFirst(resting, clock.now()) ?? target;
        return { next: next && leaseOf(next), failure: refused?.get(soonest) };
      },
      begun: () => times?.took('streamed'),
      lost: (kind, otherMs) => times?.tookLonger([kind], otherMs),
      answered() {
        refusals.keyAccepted(name);
        return permit.settle('success');
      },
      settle(outcome) {
        leave();
        if (outcome === 'left') place?.releaseLater();
        else place?.release();
        const isLater = isSettled;
        isSettled = true;
        if (isLater || outcome === 'left') return permit.settle('neutral');
        // A failure, such as a time-out, shows how slow the backend is at least.
        if (outcome === 'success') times?.took('whole');
        if (outcome === 'failure' || outcome === 'server_error') times?.tookLonger(ANSWER_KINDS);
        if (outcome === 'success') refusals.keyAccepted(name);
        if (typeof outcome === 'object') {
          const resting = rest(target, outcome);
          const ofBackend = entry.targets.refusalOf(resting, outcome, clock.now());
          return settleRefused(name, model, permit, ofBackend);
        }
        if (outcome === 'server_error') return permit.settle(countedAs(query, permit));
        if (outcome === 'model_missing') entry.noteLacking(model);
        const isAnswer = outcome === 'request_refused' || outcome === 'model_missing';
        return permit.settle(isAnswer ? 'success' : outcome);
      },
    });
    return leaseOf(first);
  };
}

/** How a failure that the backend answered counts in its circuits: the request may be the cause. */
function countedAs({ hasMedia, trace }: LeasedQuery, permit: Permit): Outcome {
  if (hasMedia?.() === true) return 'neutral';
  // The library of a client sends the same request again: it counts once, with the first failure.
  return trace?.isRepeat === true && !permit.isTrial ? 'neutral' : 'operation_failure';
}
