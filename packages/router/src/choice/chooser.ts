import { ServiceError } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import type { Affinity } from './affinity.ts';
import type { BackendList } from '../registry/backend-list.ts';
import type { Backend, Capability } from '../registry/backend.ts';
import type { Breakers, Outcome, Permit } from '../circuits/breakers.ts';
import { findServing, leastUsed, type Candidate, type BackendQuery } from './choice.ts';
import type { RequestCounts } from './request-counts.ts';

/** Chooses a backend for each request. */
export interface Chooser {
  /** Rejects with what the caller is to be told when there is none. */
  choose(query: BackendQuery & ChoiceOptions): Promise<Route>;
}

/** How a choice is narrowed down. */
export interface ChoiceOptions {
  /** What the model was found to stand for earlier; without it, its alias is looked up now. */
  readonly resolved?: string | undefined;
  readonly capability?: Capability | undefined;
  /** A backend's name or kind, in any case. */
  readonly provider?: string | undefined;
  /** Stays with the backend that it was first sent to, as long as that one can serve. */
  readonly conversationId?: string | undefined;
  /** Names of backends that have been tried already. */
  readonly exclude?: readonly string[] | undefined;
}

/** Where a request goes. */
export interface Route {
  readonly backend: Backend;
  /** The model id as the chosen backend lists it. */
  readonly model: string;
  /** Tells the circuit breaker that the backend answered well while it goes on serving: `settle` is still due. */
  answered(): Promise<void>;
  /**
   * Says what became of the request, for the circuit breaker: `failure` when the backend is at fault, `neutral` when the
   * request was refused or left by the client. What is said first counts. Every route has to be settled, when
   * the backend is done with the request: before that it is not closed. This process knows it at once; it resolves when the
   * others can know, and never rejects.
   */
  settle(outcome: Outcome): Promise<void>;
}

interface ChooserDependencies {
  readonly list: BackendList;
  readonly breakers: Breakers;
  readonly counts: RequestCounts;
  readonly affinity: Affinity;
  /** Resolves when a change of the backends is done; undefined while there is none under way. */
  readonly changing: () => Promise<void> | undefined;
  readonly log: Log;
}

export function createChooser(dependencies: ChooserDependencies): Chooser {
  const { list, breakers, counts, affinity, changing, log } = dependencies;

  function eligible(query: BackendQuery, exclude: readonly string[]): readonly Candidate[] {
    return findServing(list.all(), query).filter(({ slot: { backend, report } }) => {
      if (report.state !== 'Healthy' || exclude.includes(backend.name)) return false;
      return breakers.permits(backend.name);
    });
  }

  /** At once, unless the circuit is half-open: then undefined where somebody else has its test call. */
  function acquire(candidate: Candidate): Route | Promise<Route | undefined> {
    const acquired = breakers.acquire(candidate.slot.backend.name);
    if (!(acquired instanceof Promise)) return begin(candidate, acquired);
    return acquired.then((permit) => (permit === undefined ? undefined : begin(candidate, permit)));
  }

  function begin({ slot, model }: Candidate, permit: Permit): Route {
    const { backend } = slot;
    counts.add(backend.name);
    const leave = slot.use();
    return {
      backend,
      model,
      answered: () => permit.settle('success'),
      settle(outcome) {
        leave();
        return permit.settle(outcome);
      },
    };
  }

  async function chooseLeastUsed(query: BackendQuery, exclude: readonly string[]): Promise<Route> {
    const best = leastUsed(eligible(query, exclude), counts);
    if (best === undefined) {
      throw new ServiceError('all_backends_unhealthy', 'all backends unhealthy');
    }
    const acquired = acquire(best);
    const route = acquired instanceof Promise ? await acquired : acquired;
    if (route !== undefined) return route;
    return chooseLeastUsed(query, [...exclude, best.slot.backend.name]);
  }

  function notBound(error: unknown): undefined {
    log.warn({ error }, 'a conversation could not be bound to its backend');
  }

  function boundTo(conversationId: string, ifUnbound: string): Promise<string | undefined> {
    return affinity.claim(conversationId, ifUnbound).catch(notBound);
  }

  /** Stays with the backend that the conversation is bound to, or binds it to another one. */
  async function chooseFor(
    conversationId: string,
    query: BackendQuery,
    exclude: readonly string[],
  ): Promise<Route> {
    const best = leastUsed(eligible(query, exclude), counts)?.slot.backend.name;
    const bound = best === undefined ? undefined : await boundTo(conversationId, best);
    const kept = eligible(query, exclude).find(({ slot }) => slot.backend.name === bound);
    const route =
      (kept === undefined ? undefined : await acquire(kept)) ??
      (await chooseLeastUsed(query, exclude));
    // Also when it stays, since the binding lasts for a day from its last use.
    affinity.bind(conversationId, route.backend.name).catch(notBound);
    return route;
  }

  function chooseNow(query: BackendQuery & ChoiceOptions): Promise<Route> {
    const { conversationId, exclude = [] } = query;
    return conversationId === undefined
      ? chooseLeastUsed(query, exclude)
      : chooseFor(conversationId, query, exclude);
  }

  return {
    async choose(query) {
      try {
        return await chooseNow(query);
      } catch (error) {
        const change = changing();
        if (change === undefined) throw error;
        // The backend may have been registered on another replica a moment ago.
        await change;
        return chooseNow(query);
      }
    },
  };
}
