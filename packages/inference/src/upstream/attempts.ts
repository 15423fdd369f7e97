import { ServiceError } from '@model-gateway/contracts';
import type { Cancel } from '@model-gateway/kernel';
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
import { noteAnswer, noteFailure, sinceMs } from './attempt-notes.ts';
import { askTarget, race, type PendingTarget, type FailedTarget } from './hedge.ts';
import { askWithin, isSafeToRepeat, mayRetry } from './retries.ts';
import type { UpstreamCall, UpstreamTelemetry } from './upstream-telemetry.ts';

/** The requirements of a request. */
export interface RouteRequest extends ChoiceOptions {
  readonly model: string;
  readonly capability: Capability;
  /** Aborted when the client disconnected. */
  readonly signal: Cancel;
  /** Called once, when a backend was found; not if the backend was chosen before. */
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

/** A call in progress. */
export interface ActiveCall {
  readonly lease: Lease;
  readonly call: UpstreamCall;
}

/** A response and its lease. The caller must report how the call ended. */
export interface Attempted<Answer> extends ActiveCall {
  readonly answer: Answer;
}

/**
 * Calls a backend, and a second one, or as many as the route of the model allows, if the first is at fault and the client has
 * received nothing. A backend that cannot take
 * the request, and was sent nothing, does not count as one of them. Reports failures to the router; the caller reports the
 * end of a response that has begun. A caller that has chosen the first backend passes its lease.
 */
export async function attempt<Answer>(
  dependencies: AttemptDependencies,
  query: RouteRequest,
  ask: (lease: Lease, signal: Cancel) => Promise<Answer>,
  chosen?: Lease,
): Promise<Attempted<Answer>> {
  const { router } = dependencies;
  let lease = chosen ?? (await router.choose(query.model, query));
  if (chosen === undefined) query.onAccepted();
  let failures: Failures | undefined;
  for (;;) {
    const afterMs = hedgeAfterMs(query, lease, failures);
    const outcome: Attempted<Answer> | Failures =
      afterMs === undefined
        ? await askOne(dependencies, query, ask, lease, failures)
        : await askHedged(dependencies, query, ask, { lease, afterMs, earlier: failures });
    if ('answer' in outcome) return outcome;
    const { nextKey, ...others } = outcome;
    failures = others;
    const another =
      nextKey ??
      (failures.mayRetry ? await chooseAnother(router, query, failures.tried) : undefined);
    // If there is no other backend, the failure is a better error than the refusal to choose one.
    if (another === undefined) throw failures.cause;
    lease = another;
  }
}

async function askOne<Answer>(
  { telemetry }: AttemptDependencies,
  query: RouteRequest,
  ask: (lease: Lease, signal: Cancel) => Promise<Answer>,
  lease: Lease,
  earlier: Failures | undefined,
): Promise<Attempted<Answer> | Failures> {
  const call = telemetry.begin(query.capability, lease.backend, lease.model);
  const startedAt = performance.now();
  try {
    const answer = await call.run(() =>
      lease.retries?.timeoutMs === undefined
        ? ask(lease, query.signal)
        : askWithin(lease, query.signal, ask),
    );
    if (query.trace !== undefined) noteAnswer(query.trace, lease, startedAt);
    return { answer, lease, call };
  } catch (failure) {
    noteFailure(query, lease, failure, startedAt);
    return afterFailure({ lease, call }, failure, query, earlier);
  }
}

/** Undefined if only one target is asked at a time. */
function hedgeAfterMs(
  { unbilled, canRepeat }: RouteRequest,
  { retries }: Lease,
  earlier: Failures | undefined,
): number | undefined {
  if (retries?.hedgeAfterMs === undefined) return undefined;
  if (unbilled === undefined || canRepeat !== undefined) return undefined;
  return (earlier?.count ?? 0) + 2 > retries.attempts ? undefined : retries.hedgeAfterMs;
}

interface HedgedTarget {
  readonly lease: Lease;
  readonly afterMs: number;
  readonly earlier: Failures | undefined;
}

/** As `askOne`, and asks a second target when the first takes long. */
async function askHedged<Answer>(
  { router, telemetry }: AttemptDependencies,
  query: RouteRequest,
  ask: (lease: Lease, signal: Cancel) => Promise<Answer>,
  { lease, afterMs, earlier }: HedgedTarget,
): Promise<Attempted<Answer> | Failures> {
  const { signal, capability, trace } = query;
  const request = { telemetry, capability, signal, ask };
  const tried = [...(earlier?.tried ?? []), { backend: lease.backend.name, model: lease.model }];
  const { winner, loser, failed } = await race(askTarget(lease, request), afterMs, async () => {
    if (signal.aborted) return undefined;
    // A conversation stays with the first.
    const second = await chooseAnother(router, { ...query, conversationId: undefined }, tried);
    return second && askTarget(second, request);
  });
  if (winner !== undefined) {
    for (const { target, failure } of failed) {
      noteFailure(query, target.lease, failure, target.startedAt);
      await settleFailure(target, failure, signal);
    }
    if (loser !== undefined) {
      const { answerKind = 'streamed' } = query;
      loser.lease.lost(answerKind, performance.now() - winner.target.startedAt);
      leaveTarget(query, loser);
    }
    if (trace !== undefined) noteAnswer(trace, winner.target.lease, winner.target.startedAt);
    return { answer: winner.answer, lease: winner.target.lease, call: winner.target.call };
  }
  if (loser !== undefined) leaveTarget(query, loser);
  // A client that leaves two targets pays for one of them.
  const [, ...unpaid] = signal.aborted ? failed.filter(isAtWork) : [];
  for (const { target } of unpaid) leaveTarget(query, target);
  const others = failed.filter((one) => !unpaid.includes(one));
  return afterFailures(query, others, loser === undefined ? earlier : withLoser(earlier, loser));
}

/** One that was cancelled, because another began first and then failed, is not asked again. */
const withLoser = (earlier: Failures | undefined, { lease }: PendingTarget): Failures => ({
  tried: [...(earlier?.tried ?? []), { backend: lease.backend.name, model: lease.model }],
  cause: earlier?.cause,
  count: (earlier?.count ?? 0) + 1,
  mayRetry: true,
});

/** Whether a target had not answered when the client left. */
const isAtWork = ({ failure }: FailedTarget): boolean =>
  !(failure instanceof UpstreamFailure) || failure.status === undefined;

async function afterFailures(
  query: RouteRequest,
  failed: readonly FailedTarget[],
  earlier: Failures | undefined,
): Promise<Failures> {
  let failures = earlier;
  for (const { target, failure } of failed) {
    noteFailure(query, target.lease, failure, target.startedAt);
    failures = await afterFailure(target, failure, query, failures);
  }
  if (failures === undefined) throw new Error('a race without a winner has a failure');
  return failures;
}

/** Another target answered first. What this one charges is for the operator to pay, and is noted. */
function leaveTarget({ trace, unbilled }: RouteRequest, target: PendingTarget): void {
  const { lease, call, startedAt, ended } = target;
  call.leave();
  void ended.then(() => lease.settle('left'));
  const charged = unbilled?.(lease);
  if (trace === undefined) return;
  addAttempt(trace, {
    backend: lease.backend.name,
    model: lease.model,
    outcome: 'left',
    reason: 'hedged',
    status: null,
    ms: sinceMs(startedAt),
    ...charged,
  });
}

/** The failed attempts of one request. */
interface Failures {
  readonly tried: readonly TargetName[];
  /** The error for the caller. */
  readonly cause: unknown;
  /** How many backends were sent the request. */
  readonly count: number;
  readonly mayRetry: boolean;
  /** The backend that refused a key, with the next one: it does not count as another backend. */
  readonly nextKey?: Lease | undefined;
}

async function afterFailure(
  active: ActiveCall,
  failure: unknown,
  query: RouteRequest,
  earlier: Failures | undefined,
): Promise<Failures> {
  const { lease, call } = active;
  const { signal, capability } = query;
  const canRepeat = query.canRepeat?.() ?? true;
  const { tried: before = [], count = 0, nextKey: other } = earlier ?? {};
  const isLast = signal.aborted || !canRepeat || other !== undefined;
  // The failure of the key that is ready first: the backend is avoided no longer than until then.
  const { next: nextKey, failure: cause } = isLast
    ? { next: undefined, failure }
    : lease.nextKey(failure);
  if (nextKey !== undefined) {
    call.fail(failure);
    return { tried: before, cause, count, mayRetry: false, nextKey };
  }
  await settleFailure(active, failure, signal);
  await reportIfLeft(lease, failure, query);
  const tried = [...before, { backend: lease.backend.name, model: lease.model }];
  if (failure instanceof UnsupportedByBackend) {
    const passedOver = { mayRetry: !signal.aborted, nextKey: other };
    return { tried, cause: earlier?.cause ?? failure, count, ...passedOver };
  }
  const isAllowed = isBackendFault(cause, signal) && mayRetry(lease, cause, count + 1);
  const isSafe = isSafeToRepeat(capability, cause);
  const isRetried = isAllowed && isSafe && canRepeat;
  return { tried, cause, count: count + 1, mayRetry: isRetried, nextKey: other };
}

const isBackendFault = (failure: unknown, signal: Cancel): boolean =>
  failure instanceof UpstreamFailure && failure.isBackendAtFault && !signal.aborted;

/** Reports a failure to the router. */
export async function settleFailure(
  { lease, call }: ActiveCall,
  failure: unknown,
  signal: Cancel,
): Promise<void> {
  if (signal.aborted) call.leave();
  else call.fail(failure);
  await lease.settle(signal.aborted ? 'left' : outcomeOf(failure));
}

/** A backend that was never sent the request, or refused it, did no work. */
async function reportIfLeft(
  lease: Lease,
  failure: unknown,
  { signal, onLeft }: RouteRequest,
): Promise<void> {
  if (!signal.aborted || !(failure instanceof UpstreamFailure)) return;
  if (failure.hadNoEffect || failure.status !== undefined) return;
  await onLeft?.(lease);
}

async function chooseAnother(
  router: Pick<Router, 'choose'>,
  query: RouteRequest,
  tried: readonly TargetName[],
): Promise<Lease | undefined> {
  if (forbidsAnother(query.provider)) return undefined;
  try {
    return await router.choose(query.model, {
      ...query,
      exclude: [...(query.exclude ?? []), ...tried],
    });
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
