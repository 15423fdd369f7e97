import { ServiceError, type ProviderHint } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import type { Affinity } from './affinity.ts';
import type { BackendList } from '../registry/backend-list.ts';
import type { Backend, Capability } from '../registry/backend.ts';
import type { Breakers, Outcome, Permit } from '../circuits/breakers.ts';
import { noteSkipped, type ChoiceTrace, type PassReason } from './choice-trace.ts';
import type { NextNumber } from './even-numbers.ts';
import { allUnhealthy, findServing, type Candidate, type BackendQuery } from './choice.ts';
import type { AllowsModel } from './choice.ts';
import {
  ANSWER_KINDS,
  keepable,
  pickCandidate,
  type AnswerKind,
  type TargetName,
} from './ruled-choice.ts';
import { checkCandidates, obstacleOf, usableOf, type ChoiceFacts } from './usable.ts';
import type { RouteOutcome } from '../refusals/outcome.ts';
import type { Refusals } from '../refusals/refusals.ts';
import type { BackendLimits } from '../limits/backend-limits.ts';
import type { Limits, TakenPlace } from '../limits/limits.ts';
import type { FirstTokens } from './first-tokens.ts';
import type { RequestCounts } from './request-counts.ts';
import type { RetryPolicy } from '../routes/route-rule.ts';

/** Chooses a backend for each request. */
export interface Chooser {
  /** Rejects with an error for the caller when there is none. */
  choose(query: BackendQuery & ChoiceOptions): Promise<Lease>;
}

/** Further conditions of a choice. */
export interface ChoiceOptions {
  /** The resolved alias of the model; without it, the alias is looked up now. */
  readonly resolved?: string | undefined;
  readonly capability?: Capability | undefined;
  /** Which backends may serve it, by name or kind. */
  readonly provider?: ProviderHint | undefined;
  /** The conversation stays with its first backend as long as that can serve. */
  readonly conversationId?: string | undefined;
  /** Leaves out backends whose model the caller may not use. */
  readonly allows?: AllowsModel | undefined;
  /** Whether it has images, audio or files, which may be why a backend fails with it; asked only when one does. */
  readonly hasMedia?: (() => boolean) | undefined;
  /** The targets that were tried before. */
  readonly exclude?: readonly TargetName[] | undefined;
  /** Gets the backends that were passed over. */
  readonly trace?: ChoiceTrace | undefined;
}

/** A chosen target: one backend serves one request with it until it is settled. */
export interface Lease {
  readonly backend: Backend;
  /** The model id as the chosen backend lists it. */
  readonly model: string;
  /** How the request is tried again; undefined where no route says so. */
  readonly retries?: RetryPolicy | undefined;
  /** Reports that the first token of a streamed answer has arrived; absent where its time decides nothing. */
  readonly begun?: (() => void) | undefined;
  /** Reports that another target, which took this long, answered the same request first; `settle` must still be called. */
  readonly lost?: ((kind: AnswerKind, otherMs: number) => void) | undefined;
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

interface ChooserDependencies {
  readonly list: BackendList;
  readonly facts: ChoiceFacts;
  readonly breakers: Breakers;
  readonly refusals: Refusals;
  readonly counts: RequestCounts;
  readonly limits: Limits;
  readonly firstTokens: FirstTokens;
  readonly affinity: Affinity;
  /** Resolves when the current change of the backends is done; undefined without one. */
  readonly changing: () => Promise<void> | undefined;
  /** Called when an upstream refused the key of its backend, or one request. */
  readonly onKeyRefused: (name: string) => void;
  readonly log: Log;
  /** For the weights of routes. */
  readonly nextNumber: NextNumber;
}

/** How long one call takes. Only the first of these is noted. */
interface CallTimes {
  took(kind: AnswerKind): void;
  /** It ended without an answer: noted only where it took longer than answers usually do, or than this if none was measured. */
  tookLonger(kinds: readonly AnswerKind[], unmeasuredMs?: number): void;
}

/** The backends that a choice passed over. */
interface Passed {
  readonly exclude: readonly TargetName[];
  /** Whether one of them was full. */
  readonly isFull: boolean;
}

type AskedQuery = BackendQuery & Pick<ChoiceOptions, 'hasMedia'>;

/** Undefined if another process has the test call of a half-open circuit. */
type Acquired = Lease | 'full' | undefined;

const MS_PER_SECOND = 1_000;
const FULL_RETRY_SECS = 1;

const isChosen = (acquired: Acquired): acquired is Lease => typeof acquired === 'object';

const limited = (message: string, seconds: number): ServiceError =>
  new ServiceError('rate_limit_exceeded', message, { details: { retry_after_secs: seconds } });

const full = ({ requested }: BackendQuery): ServiceError =>
  limited(
    `the backends of model '${requested}' are at their limits; try again in ${FULL_RETRY_SECS} s`,
    FULL_RETRY_SECS,
  );

export function createChooser(dependencies: ChooserDependencies): Chooser {
  const { list, breakers, refusals, counts, affinity, changing, onKeyRefused, log } = dependencies;
  const { facts, limits, firstTokens, nextNumber } = dependencies;

  function eligible(query: BackendQuery, exclude: readonly TargetName[]): readonly Candidate[] {
    let isUnable = false;
    const serving = findServing(list.all(), query, () => (isUnable = true));
    const usable = usableOf(serving, exclude, facts, query.capability);
    const isPassing = isUnable || usable.length < serving.length || query.provider !== undefined;
    if (query.trace !== undefined && isPassing) notePassed(query, query.trace, exclude);
    return usable;
  }

  /** Notes every backend that lists the model and is passed over. */
  function notePassed(
    query: BackendQuery,
    trace: ChoiceTrace,
    exclude: readonly TargetName[],
  ): void {
    for (const { entry, model, reason } of checkCandidates(list.all(), query, exclude, facts)) {
      if (reason !== undefined) noteSkipped(trace, { backend: entry.backend.name, model, reason });
    }
  }

  /** The error when no backend is eligible. */
  function unavailable(query: BackendQuery, passed: Passed): ServiceError {
    if (passed.isFull) return full(query);
    const { exclude } = passed;
    const { capability } = query;
    const serving = findServing(list.all(), query);
    const passedFor = (reason: PassReason): readonly Candidate[] =>
      serving.filter((one) => obstacleOf(one, exclude, facts, capability) === reason);
    const waits = passedFor('cooling').map(({ entry: { backend }, model }) =>
      refusals.coolingMs(backend.name, model),
    );
    if (waits.length === 0) {
      const trials = passedFor('circuit_open').map(({ entry: { backend } }) =>
        breakers.waitMs(backend.name, capability),
      );
      return allUnhealthy(trials.length === 0 ? undefined : Math.min(...trials));
    }
    const seconds = Math.max(1, Math.ceil(Math.min(...waits) / MS_PER_SECOND));
    return limited(
      `the upstream of model '${query.requested}' limits its requests; try again in ${seconds} s`,
      seconds,
    );
  }

  /** Synchronous unless the circuit is half-open or the backend has limits. */
  function acquire(candidate: Candidate, query: AskedQuery): Acquired | Promise<Acquired> {
    const { entry } = candidate;
    if (entry.config.limits !== undefined)
      return acquireLimited(candidate, entry.config.limits, query);
    const acquired = breakers.acquire(entry.backend.name, query.capability);
    if (!(acquired instanceof Promise)) return begin(candidate, acquired, query);
    return acquired.then((permit) =>
      permit === undefined ? undefined : begin(candidate, permit, query),
    );
  }

  async function acquireLimited(
    candidate: Candidate,
    backendLimits: BackendLimits,
    query: AskedQuery,
  ): Promise<Acquired> {
    const { name } = candidate.entry.backend;
    const permit = await breakers.acquire(name, query.capability);
    if (permit === undefined) return undefined;
    const place = await limits.take(name, backendLimits);
    if (place !== undefined) return begin(candidate, permit, query, place);
    await permit.settle('neutral');
    return 'full';
  }

  function begin(
    { entry, model }: Candidate,
    permit: Permit,
    query: AskedQuery,
    place?: TakenPlace,
  ): Lease {
    const { backend } = entry;
    const { rule } = query;
    counts.add(backend.name);
    const leave = entry.use();
    let isSettled = false;
    const times = rule?.strategy === 'fastest' ? timed(backend.name, model) : undefined;
    return {
      backend,
      model,
      retries: rule,
      begun: times && (() => times.took('streamed')),
      lost: times && ((kind, otherMs) => times.tookLonger([kind], otherMs)),
      answered() {
        refusals.keyAccepted(backend.name);
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
        if (outcome === 'success') refusals.keyAccepted(backend.name);
        if (typeof outcome === 'object') return refused(backend.name, model, permit, outcome);
        if (outcome === 'server_error') return permit.settle(countedAs(query, permit));
        return permit.settle(outcome === 'request_refused' ? 'success' : outcome);
      },
    };
  }

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
  async function refused(
    name: string,
    model: string,
    permit: Permit,
    outcome: Exclude<RouteOutcome, string>,
  ): Promise<void> {
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

  /** How a failure that the backend answered counts in its circuits: the request may be the cause. */
  function countedAs({ hasMedia, trace }: AskedQuery, permit: Permit): Outcome {
    if (hasMedia?.() === true) return 'neutral';
    // The library of a client sends the same request again: it counts once, with the first failure.
    return trace?.isRepeat === true && !permit.isTrial ? 'neutral' : 'operation_failure';
  }

  const bestOf = (query: AskedQuery, exclude: readonly TargetName[]): Candidate | undefined =>
    pickCandidate(eligible(query, exclude), {
      counts,
      provider: query.provider,
      strategy: query.rule?.strategy,
      firstTokens,
      random: query.rule === undefined ? 0 : nextNumber(query.rule),
    });

  async function chooseBest(query: AskedQuery, passed: Passed): Promise<Lease> {
    const { exclude } = passed;
    const best = bestOf(query, exclude);
    if (best === undefined) throw unavailable(query, passed);
    const acquired = acquire(best, query);
    const route = acquired instanceof Promise ? await acquired : acquired;
    if (isChosen(route)) return route;
    const skipped = { backend: best.entry.backend.name, model: best.model };
    if (query.trace !== undefined) {
      noteSkipped(query.trace, { ...skipped, reason: route === 'full' ? 'full' : 'circuit_open' });
    }
    return chooseBest(query, {
      exclude: [...exclude, skipped],
      isFull: passed.isFull || route === 'full',
    });
  }

  function notBound(error: unknown): undefined {
    log.warn({ error }, 'binding a conversation to its backend failed');
  }

  function boundTo(conversationId: string, ifUnbound: string): Promise<string | undefined> {
    return affinity.claim(conversationId, ifUnbound).catch(notBound);
  }

  /** Uses the backend that the conversation is bound to, or binds it to another one. */
  async function chooseFor(
    conversationId: string,
    query: AskedQuery,
    exclude: readonly TargetName[],
  ): Promise<Lease> {
    const best = bestOf(query, exclude)?.entry.backend.name;
    const bound = best === undefined ? undefined : await boundTo(conversationId, best);
    const kept = keepable(eligible(query, exclude)).find(
      ({ entry }) => entry.backend.name === bound,
    );
    const stayed = kept === undefined ? undefined : await acquire(kept, query);
    const route = isChosen(stayed) ? stayed : await chooseBest(query, { exclude, isFull: false });
    // Also if it is unchanged, since a binding lasts for a day from its last use.
    affinity.bind(conversationId, route.backend.name).catch(notBound);
    return route;
  }

  function chooseNow(query: BackendQuery & ChoiceOptions): Promise<Lease> {
    const { conversationId, exclude = [] } = query;
    return conversationId === undefined
      ? chooseBest(query, { exclude, isFull: false })
      : chooseFor(conversationId, query, exclude);
  }

  async function chooseAgain(query: BackendQuery & ChoiceOptions, error: unknown): Promise<Lease> {
    const { trace, exclude = [] } = query;
    if (trace !== undefined) notePassed(query, trace, exclude);
    const change = changing();
    if (change === undefined) throw error;
    // Another replica may have just registered the backend.
    await change;
    return chooseNow(query);
  }

  return {
    choose: (query) => chooseNow(query).catch((error: unknown) => chooseAgain(query, error)),
  };
}
