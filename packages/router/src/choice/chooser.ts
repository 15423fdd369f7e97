import { ServiceError, type ProviderHint } from '@model-gateway/contracts';
import type { Clock, Log } from '@model-gateway/kernel';
import type { Affinity } from './affinity.ts';
import type { BackendList } from '../registry/backend-list.ts';
import type { Capability } from '../registry/backend.ts';
import type { Breakers } from '../circuits/breakers.ts';
import { noteSkipped, type ChoiceTrace, type SkipReason } from './choice-trace.ts';
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
import type { Refusals } from '../refusals/refusals.ts';
import type { BackendLimits } from '../limits/backend-limits.ts';
import type { Limits } from '../limits/limits.ts';
import type { FirstTokens } from './first-tokens.ts';
import { createLeases, type Lease, type LeasedQuery } from './lease.ts';
import type { RequestCounts } from './request-counts.ts';

/** Chooses a backend for each request. */
export interface Chooser {
  /** Rejects with an error for the caller when there is none. */
  choose(query: BackendQuery & ChoiceOptions): Promise<Lease>;
}

/** Further conditions of a choice. */
export interface ChoiceOptions extends Pick<LeasedQuery, 'hasMedia'> {
  /** The resolved alias of the model; without it, the alias is looked up now. */
  readonly resolved?: string | undefined;
  readonly capability?: Capability | undefined;
  /** Which backends may serve it, by name or kind. */
  readonly provider?: ProviderHint | undefined;
  /** The conversation stays with its first backend as long as that can serve. */
  readonly conversationId?: string | undefined;
  /** Leaves out backends whose model the caller may not use. */
  readonly allows?: AllowsModel | undefined;
  /** The targets that were tried before. */
  readonly exclude?: readonly TargetName[] | undefined;
  /** Gets the backends that were skipped. */
  readonly trace?: ChoiceTrace | undefined;
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
  readonly clock: Clock;
  readonly log: Log;
  /** For the weights of routes. */
  readonly nextNumber: NextNumber;
}

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
  const { list, breakers, refusals, counts, affinity, changing, log } = dependencies;
  const { facts, limits, firstTokens, nextNumber } = dependencies;
  const begin = createLeases(dependencies);

  /** What may serve a request; rejects it if nothing can, whatever the state. */
  function considered(query: BackendQuery, exclude: readonly TargetName[]): readonly Candidate[] {
    const entries = list.all();
    const candidates = consider(entries, query, exclude, facts);
    if (query.trace !== undefined) noteAllSkipped(query.trace, candidates);
    assertServed(entries, query, candidates);
    return candidates;
  }

  /** Notes every backend that lists the model and is skipped. */
  function noteAllSkipped(trace: ChoiceTrace, candidates: readonly Candidate[]): void {
    const usable = usableOf(candidates, facts);
    if (usable.length === candidates.length) return;
    for (const one of candidates) {
      if (usable.includes(one)) continue;
      const { entry, model } = one;
      const reason = one.obstacle ?? (entry.lacks(model) ? 'model_not_listed' : 'key_refused');
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
    const skippedFor = (reason: SkipReason): readonly Candidate[] =>
      candidates.filter(({ obstacle }) => obstacle === reason);
    const waits = skippedFor('cooling').map(({ entry: { backend }, model }) =>
      refusals.coolingMs(backend.name, model),
    );
    if (waits.length === 0) {
      const trials = skippedFor('circuit_open').map(({ entry: { backend } }) =>
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
  function acquire(candidate: Candidate, query: LeasedQuery): Acquired | Promise<Acquired> {
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
    query: LeasedQuery,
  ): Promise<Acquired> {
    const permit = await awaited;
    if (permit === undefined) return 'circuit_open';
    if (backendLimits === undefined) return begin(candidate, permit, query);
    const place = await limits.take(candidate.entry.backend.name, backendLimits);
    if (place !== undefined) return begin(candidate, permit, query, place);
    await permit.settle('neutral');
    return 'full';
  }

  /** The candidate that is preferred, if any can serve. */
  function bestOf(query: LeasedQuery, candidates: readonly Candidate[]): Candidate | undefined {
    const { provider, rule } = query;
    const draw = (): number => (rule === undefined ? 0 : nextNumber(rule));
    const policy = { counts, provider, strategy: rule?.strategy, firstTokens, draw };
    const [first] = rank(candidates, facts, policy);
    return first?.obstacle === undefined ? first : undefined;
  }

  async function chooseBest(query: LeasedQuery, exclude: readonly TargetName[]): Promise<Lease> {
    let isFull = false;
    const excluded = [...exclude];
    for (;;) {
      const candidates = considered(query, excluded);
      const best = bestOf(query, candidates);
      if (best === undefined) throw unavailable(query, candidates, isFull);
      const acquired = acquire(best, query);
      const lease = acquired instanceof Promise ? await acquired : acquired;
      if (typeof lease === 'object') return lease;
      isFull ||= lease === 'full';
      const skipped = { backend: best.entry.backend.name, model: best.model };
      if (query.trace !== undefined) noteSkipped(query.trace, { ...skipped, reason: lease });
      excluded.push(skipped);
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
    query: LeasedQuery,
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
