import { ServiceError, type RequestAttempt } from '@model-gateway/contracts';
import {
  forbidsAnother,
  outcomeOf,
  UnsupportedByBackend,
  UpstreamFailure,
  type AnswerKind,
  type Capability,
  type ChoiceOptions,
  type Lease,
  type Router,
  type TargetName,
} from '@model-gateway/router';
import type { UnbilledPrompt } from '../usage/meter.ts';
import { addAttempt, type RequestTrace } from '../usage/request-trace.ts';
import { failureKindOf } from './failure-kind.ts';
import type { FallbackModel } from './fallback-model.ts';
import { askTarget, race, type AskedTarget, type FailedTarget } from './hedge.ts';
import { askWithin, isSafeToRepeat, mayRetry, type Ask } from './retries.ts';
import type { TrackedAttempt, UpstreamTelemetry } from './upstream-telemetry.ts';

/** The requirements of a request. */
export interface RouteRequest extends ChoiceOptions {
  readonly model: string;
  /** Models that are tried, in this order, when those before them cannot answer. */
  readonly fallbacks?: readonly FallbackModel[] | undefined;
  readonly capability: Capability;
  /** Aborted when the client disconnected. */
  readonly signal: AbortSignal;
  /** Called once, when a backend was found. */
  readonly onAccepted: () => void;
  /** Whether the request can be sent again; false when its body was read and is not kept. */
  readonly canRepeat?: () => boolean;
  /** Called at most once, when the client left while the backend of this lease worked on the request. */
  readonly onLeft?: (lease: Lease) => Promise<void>;
  /** What a target that loses against another one costs the operator; without it only one target is asked at a time. */
  readonly unbilled?: (lease: Lease) => UnbilledPrompt;
  /** What is asked for, which decides which times of the targets it is compared with; a stream by default. */
  readonly answerKind?: AnswerKind;
  /** Notes the backends that were tried, if there were several or one failed. */
  readonly trace?: RequestTrace | undefined;
}

/** Chooses backends, and measures the calls. */
export interface AttemptDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
}

/** An attempt that goes on. */
export interface ActiveAttempt {
  readonly lease: Lease;
  readonly tracked: TrackedAttempt;
}

/** A response and its lease. The caller must report how the attempt ended. */
export interface Attempted<Answer> extends ActiveAttempt {
  readonly answer: Answer;
}

/**
 * Asks one target after the other until one answers. For each model of the request: a backend, with its next key while the
 * upstream refuses the last one, and then a second backend, or as many as the route of the model allows, if the first is at
 * fault and the client has received nothing. A backend that cannot take the request, and was sent nothing, or does not have
 * the model, does not count as one of them. The last failure is the error of the request. Reports failures to the router; the
 * caller reports the end of a response that has begun.
 */
export const attempt = <Answer>(
  dependencies: AttemptDependencies,
  query: RouteRequest,
  ask: Ask<Answer>,
): Promise<Attempted<Answer>> => new Attempts(dependencies, query, ask).run();

/** One request on its way. */
class Attempts<Answer> {
  readonly #dependencies: AttemptDependencies;
  readonly #ask: Ask<Answer>;
  /** The request with the model that is tried now. */
  #query: RouteRequest;
  readonly #otherModels: FallbackModel[];
  /** Also by the models before: a route of this one may lead to the same. */
  readonly #tried: TargetName[] = [];
  /** Whether sending the request again, to any target, cannot carry it out twice. */
  #isSafe = true;
  /** The error of the models before this one. */
  #earlier: unknown;

  /** Whether a backend was chosen for this model. */
  #isBegun = false;
  /** How many backends were sent the request for this model. */
  #count = 0;
  /** The error of this model. */
  #cause: unknown;
  #mayRetry = false;
  /** A backend that refused a key, with the next one: it does not count as another backend. */
  #nextKey: Lease | undefined;

  constructor(dependencies: AttemptDependencies, query: RouteRequest, ask: Ask<Answer>) {
    this.#dependencies = dependencies;
    this.#query = query;
    this.#ask = ask;
    this.#otherModels = othersOf(query);
  }

  async run(): Promise<Attempted<Answer>> {
    let lease = await this.#next();
    this.#query.onAccepted();
    for (;;) {
      const afterMs = this.#hedgeAfterMs(lease);
      const answered = await (afterMs === undefined
        ? this.#askOne(lease)
        : this.#askHedged(lease, afterMs));
      if (answered !== undefined) return answered;
      lease = this.#nextKey ?? (await this.#next());
      this.#nextKey = undefined;
    }
  }

  /** The next target of this model, or of one of the others. */
  async #next(): Promise<Lease> {
    for (;;) {
      const query = this.#query;
      if (!this.#isBegun || (this.#mayRetry && !forbidsAnother(query.provider))) {
        try {
          const { router } = this.#dependencies;
          const lease = await router.choose(query.model, this.#excluding(query));
          this.#isBegun = true;
          return lease;
        } catch (error) {
          // If there is no other backend, the failure is a better error than the refusal to choose one.
          if (!this.#isBegun || !(error instanceof ServiceError)) this.#cause = error;
        }
      }
      this.#nextModel();
    }
  }

  /** Throws the error of the request if no other model may be tried. */
  #nextModel(): void {
    this.#earlier = moreInformative(this.#earlier, this.#cause);
    const { signal, canRepeat } = this.#query;
    const isOver = !this.#isSafe || signal.aborted || canRepeat?.() === false;
    const other = isOver ? undefined : this.#otherModels.shift();
    if (other === undefined) throw this.#earlier;
    this.#query = { ...this.#query, model: other.model, resolved: other.resolved };
    this.#isBegun = false;
    this.#count = 0;
    this.#cause = undefined;
  }

  #excluding(query: RouteRequest, ...more: readonly TargetName[]): RouteRequest {
    if (this.#tried.length === 0 && more.length === 0) return query;
    return { ...query, exclude: [...(query.exclude ?? []), ...this.#tried, ...more] };
  }

  /** Undefined if only one target is asked at a time. */
  #hedgeAfterMs({ retries }: Lease): number | undefined {
    const { unbilled, canRepeat } = this.#query;
    if (retries?.hedgeAfterMs === undefined) return undefined;
    if (unbilled === undefined || canRepeat !== undefined) return undefined;
    return this.#count + 2 > retries.attempts ? undefined : retries.hedgeAfterMs;
  }

  /** Undefined if it failed. */
  async #askOne(lease: Lease): Promise<Attempted<Answer> | undefined> {
    const { signal, capability } = this.#query;
    const tracked = this.#dependencies.telemetry.begin(capability, lease.backend, lease.model);
    const target = { lease, tracked, startedAt: performance.now() };
    try {
      const answer = await tracked.run(() =>
        lease.retries?.timeoutMs === undefined
          ? this.#ask(lease, signal)
          : askWithin(lease, signal, this.#ask),
      );
      this.#noteAnswer(target);
      return { answer, lease, tracked };
    } catch (failure) {
      await this.#fail({ target, failure });
      return undefined;
    }
  }

  /** The same, and asks a second target when the first takes long. */
  async #askHedged(lease: Lease, afterMs: number): Promise<Attempted<Answer> | undefined> {
    const { telemetry, router } = this.#dependencies;
    const { signal, capability, provider, answerKind = 'streamed' } = this.#query;
    const request = { telemetry, capability, signal, ask: this.#ask };
    const askSecond = async () => {
      if (signal.aborted || forbidsAnother(provider)) return undefined;
      // A conversation stays with the first.
      const query = { ...this.#query, conversationId: undefined };
      const second = await router.choose(query.model, this.#excluding(query, nameOf(lease)));
      return askTarget(second, request);
    };
    const { winner, loser, failed } = await race(askTarget(lease, request), afterMs, askSecond);
    if (winner !== undefined) {
      for (const { target, failure } of failed) {
        this.#noteFailure(target, failure);
        await settleFailure(target, failure, signal);
      }
      if (loser !== undefined) {
        loser.lease.lost(answerKind, performance.now() - winner.target.startedAt);
        this.#leave(loser, loser.ended);
      }
      this.#noteAnswer(winner.target);
      const { lease: answering, tracked } = winner.target;
      return { answer: winner.answer, lease: answering, tracked };
    }
    if (loser !== undefined) {
      // One that was cancelled, because another began first and then failed, is not asked again.
      this.#tried.push(nameOf(loser.lease));
      this.#count += 1;
      this.#leave(loser, loser.ended);
    }
    // A client that leaves two targets pays for one of them.
    const [, ...unpaid] = signal.aborted ? failed.filter(isAtWork) : [];
    for (const { target } of unpaid) this.#leave(target);
    for (const one of failed) {
      if (!unpaid.includes(one)) await this.#fail(one);
    }
    return undefined;
  }

  async #fail({ target, failure }: FailedTarget): Promise<void> {
    const { lease, tracked } = target;
    const { signal, capability } = this.#query;
    this.#noteFailure(target, failure);
    this.#isSafe &&= isSafeToRepeat(capability, failure);
    const canRepeat = this.#query.canRepeat?.() ?? true;
    const isLastKey = signal.aborted || !canRepeat || this.#nextKey !== undefined;
    // The failure of the key that is ready first: the backend is avoided no longer than until then.
    const { next, failure: cause } = isLastKey
      ? { next: undefined, failure }
      : lease.nextKey(failure);
    if (next !== undefined) {
      tracked.fail(failure);
      this.#nextKey = next;
      this.#cause = cause;
      return;
    }
    await settleFailure(target, failure, signal);
    await this.#reportIfLeft(lease, failure);
    this.#tried.push(nameOf(lease));
    if (isElsewhere(failure)) {
      this.#cause ??= failure;
      this.#mayRetry = !signal.aborted && canRepeat;
      return;
    }
    this.#cause = cause;
    this.#count += 1;
    this.#mayRetry =
      isBackendFault(cause, signal) &&
      mayRetry(lease, cause, this.#count) &&
      isSafeToRepeat(capability, cause) &&
      canRepeat;
  }

  /** A backend that was never sent the request, or refused it, did no work. */
  async #reportIfLeft(lease: Lease, failure: unknown): Promise<void> {
    const { signal, onLeft } = this.#query;
    if (!signal.aborted || !(failure instanceof UpstreamFailure)) return;
    if (failure.hadNoEffect || failure.status !== undefined) return;
    await onLeft?.(lease);
  }

  /** Another target answered first. What this one charges is for the operator to pay, and is noted. */
  #leave(target: AskedTarget, ended: Promise<unknown> = Promise.resolve()): void {
    const { lease, tracked } = target;
    tracked.leave();
    void ended.then(() => lease.settle('left'));
    const charged = this.#query.unbilled?.(lease);
    this.#note(target, { outcome: 'left', reason: 'hedged', status: null }, charged);
  }

  #noteFailure(target: AskedTarget, failure: unknown): void {
    const isLeft = this.#query.signal.aborted;
    this.#note(target, {
      outcome: isLeft ? 'left' : 'failed',
      reason: isLeft ? null : failureKindOf(failure, false),
      status: failure instanceof UpstreamFailure ? (failure.status ?? null) : null,
    });
  }

  /** An answer of the only backend that was considered is in the row of the request. */
  #noteAnswer(target: AskedTarget): void {
    const { trace } = this.#query;
    if (trace?.attempts === undefined && trace?.skipped === undefined) return;
    this.#note(target, { outcome: 'answered', reason: null, status: null });
  }

  /** The only place that writes the log of attempts. */
  #note(
    { lease: { backend, model }, startedAt }: AskedTarget,
    ended: Pick<RequestAttempt, 'outcome' | 'reason' | 'status'>,
    charged?: UnbilledPrompt,
  ): void {
    if (this.#query.trace === undefined) return;
    const ms = Math.max(0, Math.round(performance.now() - startedAt));
    addAttempt(this.#query.trace, { backend: backend.name, model, ...ended, ms, ...charged });
  }
}

/** Each other model once, by what its alias stands for: what failed is not tried again. */
function othersOf({ resolved, fallbacks }: RouteRequest): FallbackModel[] {
  if (fallbacks === undefined || fallbacks.length === 0) return [];
  const named = new Set([resolved]);
  return fallbacks.filter((fallback) => {
    const isOther = !named.has(fallback.resolved);
    named.add(fallback.resolved);
    return isOther;
  });
}

/** What an upstream failed with says more than that no other backend is left. */
const moreInformative = (earlier: unknown, error: unknown): unknown =>
  earlier instanceof UpstreamFailure &&
  error instanceof ServiceError &&
  error.code === 'all_backends_unhealthy'
    ? earlier
    : error;

const nameOf = ({ backend, model }: Lease): TargetName => ({ backend: backend.name, model });

/** Whether a target had not answered when the client left. */
const isAtWork = ({ failure }: FailedTarget): boolean =>
  !(failure instanceof UpstreamFailure) || failure.status === undefined;

/** Whether the backend does not have what is asked for, and did nothing. */
const isElsewhere = (failure: unknown): boolean =>
  failure instanceof UnsupportedByBackend ||
  (failure instanceof UpstreamFailure && failure.isModelMissing);

const isBackendFault = (failure: unknown, signal: AbortSignal): boolean =>
  failure instanceof UpstreamFailure && failure.isBackendAtFault && !signal.aborted;

/** Reports a failure to the router. */
export async function settleFailure(
  { lease, tracked }: ActiveAttempt,
  failure: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) tracked.leave();
  else tracked.fail(failure);
  await lease.settle(signal.aborted ? 'left' : outcomeOf(failure));
}
