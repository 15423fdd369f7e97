import { ServiceError, type ProviderHint } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import type { Affinity } from './affinity.ts';
import type { BackendList } from '../registry/backend-list.ts';
import type { Backend, Capability } from '../registry/backend.ts';
import type { Breakers, Outcome, Permit } from '../circuits/breakers.ts';
import { noteSkipped, type ChoiceTrace, type PassReason } from './choice-trace.ts';
import type { NextNumber } from './even-numbers.ts';
import {
  allUnhealthy,
  assertServed,
  type AllowsModel,
  type BackendQuery,
  type Candidate,
  type TargetName,
} from './choice.ts';
import { consider, keepable, rank, usableOf, type ChoiceFacts } from './rank.ts';
import type { RouteOutcome } from '../refusals/outcome.ts';
import type { Refusals } from '../refusals/refusals.ts';
import type { BackendLimits } from '../limits/backend-limits.ts';
import type { Limits, TakenPlace } from '../limits/limits.ts';
import { ANSWER_KINDS, type AnswerKind, type FirstTokens } from './first-tokens.ts';
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

type AskedQuery = BackendQuery & Pick<ChoiceOptions, 'hasMedia'>;

/** Or why there is none; another process may have the test call of a half-open circuit. */
type Acquired = Lease | 'full' | 'circuit_open';

const MS_PER_SECOND = 1_000;
const FULL_RETRY_SECS = 1;

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

  /** What may serve a request; rejects it if nothing can, whatever the state. */
  function considered(query: BackendQuery, exclude: readonly TargetName[]): readonly Candidate[] {
    const entries = list.all();
    const candidates = consider(entries, query, exclude, facts);
    if (query.trace !== undefined) notePassed(query.trace, candidates);
    assertServed(entries, query, candidates);
    return candidates;
  }

  /** Notes every backend that lists the model and is passed over. */
  function notePassed(trace: ChoiceTrace, candidates: readonly Candidate[]): void {
    const usable = usableOf(candidates, facts);
    if (usable.length === candidates.length) return;
    for (const one of candidates) {
      if (usable.includes(one)) continue;
      const { entry, model, obstacle: reason = 'key_refused' } = one;
      noteSkipped(trace, { backend: entry.backend.name, model, reason });
    }
  }

  /** The error when no backend is eligible. */
  function unavailable(
    query: BackendQuery,
    candidates: readonly Candidate[],
    isFull: boolean,
  ): ServiceError {
    if (isFull) return full(query);
    const passedFor = (reason: PassReason): readonly Candidate[] =>
      candidates.filter(({ obstacle }) => obstacle === reason);
    const waits = passedFor('cooling').map(({ entry: { backend }, model }) =>
      refusals.coolingMs(backend.name, model),
    );
    if (waits.length === 0) {
      const trials = passedFor('circuit_open').map(({ entry: { backend } }) =>
        breakers.waitMs(backend.name, query.capability),
      );
      return allUnhealthy(trials.length === 0 ? undefined : Math.min(...trials));
    }
    const seconds = Math.max(1, Math.ceil(Math.min(...waits) / MS_PER_SECOND));
    return limited(
      `the upstream of model '${query.requested}' limits its requests; try again in ${seconds} s`,
      seconds,
    );
  }

  /** Synchronous unless the circuit is half-open or the backend has limits: the next choice counts this one. */
  function acquire(candidate: Candidate, query: AskedQuery): Acquired | Promise<Acquired> {
    const { backend, config } = candidate.entry;
    const permit = breakers.acquire(backend.name, query.capability);
    return permit instanceof Promise || config.limits !== undefined
      ? acquireLimited(candidate, config.limits, permit, query)
      : begin(candidate, permit, query);
  }

  async function acquireLimited(
    candidate: Candidate,
    backendLimits: BackendLimits | undefined,
    awaited: ReturnType<Breakers['acquire']>,
    query: AskedQuery,
  ): Promise<Acquired> {
    const permit = await awaited;
    if (permit === undefined) return 'circuit_open';
    if (backendLimits === undefined) return begin(candidate, permit, query);
    const place = await limits.take(candidate.entry.backend.name, backendLimits);
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

  /** The candidate that is preferred, if any can serve. */
  function bestOf(query: AskedQuery, candidates: readonly Candidate[]): Candidate | undefined {
    const { provider, rule } = query;
    const draw = (): number => (rule === undefined ? 0 : nextNumber(rule));
    const policy = { counts, provider, strategy: rule?.strategy, firstTokens, draw };
    const [first] = rank(candidates, facts, policy);
    return first?.obstacle === undefined ? first : undefined;
  }

  async function chooseBest(query: AskedQuery, exclude: readonly TargetName[]): Promise<Lease> {
    let isFull = false;
    const passed = [...exclude];
    for (;;) {
      const candidates = considered(query, passed);
      const best = bestOf(query, candidates);
      if (best === undefined) throw unavailable(query, candidates, isFull);
      const acquired = acquire(best, query);
      const lease = acquired instanceof Promise ? await acquired : acquired;
      if (typeof lease === 'object') return lease;
      isFull ||= lease === 'full';
      const skipped = { backend: best.entry.backend.name, model: best.model };
      if (query.trace !== undefined) noteSkipped(query.trace, { ...skipped, reason: lease });
      passed.push(skipped);
    }
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
    const best = bestOf(query, considered(query, exclude))?.entry.backend.name;
    const bound = best === undefined ? undefined : await boundTo(conversationId, best);
    const usable = usableOf(considered(query, exclude), facts);
    const kept = keepable(usable).find(({ entry }) => entry.backend.name === bound);
    const stayed = kept === undefined ? undefined : await acquire(kept, query);
    const lease = typeof stayed === 'object' ? stayed : await chooseBest(query, exclude);
    // Also if it is unchanged, since a binding lasts for a day from its last use.
    affinity.bind(conversationId, lease.backend.name).catch(notBound);
    return lease;
  }

  function chooseNow(query: BackendQuery & ChoiceOptions): Promise<Lease> {
    const { conversationId, exclude = [] } = query;
    return conversationId === undefined
      ? chooseBest(query, exclude)
      : chooseFor(conversationId, query, exclude);
  }

  async function chooseAgain(query: BackendQuery & ChoiceOptions, error: unknown): Promise<Lease> {
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
