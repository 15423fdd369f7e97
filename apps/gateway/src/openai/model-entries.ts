import { pricePerToken, type FoundPrice, type PriceBook } from '@model-gateway/billing';
import type { ModelEntry } from '@model-gateway/contracts';
import {
  matchModel,
  QUICK_START_MODELS,
  QUICK_START_OWNER,
  type Aliases,
  type RouteRule,
} from '@model-gateway/router';
import { servedModels, type ListedBackend, type ServedModel } from './served-models.ts';

/** What the listing is built from. */
export interface ListingFacts {
  /** The registered backends. */
  readonly backends: readonly ListedBackend[];
  /** Backends such as the demo model, which are listed only while no backend is registered. */
  readonly unlisted: readonly ListedBackend[];
  readonly aliases: ReturnType<Aliases['list']>;
  readonly routes: readonly RouteRule[];
  readonly priceOf: PriceBook['priceOf'];
  /** Whether models that no backend serves yet are listed, too. */
  readonly suggests: boolean;
}

/** When the quick-start list was chosen: clients require a time on every entry. */
const QUICK_START_CREATED = unixSeconds(new Date('2026-01-01T00:00:00Z'));

/**
 * The entries of the listing, each id once: what the backends serve, then aliases, routes and quick-start models. An alias
 * replaces a model of the same id, as it does in routing, also where its target is not served. A route whose id is also that of a model adds no entry.
 */
export function modelEntries(facts: ListingFacts): ModelEntry[] {
  const { backends, unlisted, aliases, routes, priceOf, suggests } = facts;
  const entries = new Map<string, ModelEntry>();
  const routable = servedModels([...backends, ...unlisted]);
  const routableIds = new Set(routable.keys());
  for (const [id, served] of servedModels(backends.length === 0 ? unlisted : backends)) {
    const created = unixSeconds(served.registeredAt);
    entries.set(id, {
      ...entry(id, served.owner, created),
      ...details(id, served, priceOf),
    });
  }
  const routed = routedModels(routes, routable, routableIds);
  for (const { alias, target, setAt } of aliases) {
    const id = matchModel(target, routableIds) ?? target;
    const served = routable.get(id) ?? routed.get(id);
    if (served === undefined) {
      // The alias applies nevertheless, so that requests for a model of this id fail.
      entries.delete(alias);
      continue;
    }
    entries.set(alias, {
      ...entry(alias, 'alias', unixSeconds(setAt)),
      alias_of: target,
      ...details(id, served, priceOf),
    });
  }
  const aliased = new Set(aliases.map(({ alias }) => alias));
  for (const [id, served] of routed) {
    if (entries.has(id) || aliased.has(id)) continue;
    entries.set(id, {
      ...entry(id, 'route', unixSeconds(served.registeredAt)),
      ...details(id, served, priceOf),
    });
  }
  for (const id of suggests ? QUICK_START_MODELS : []) {
    if (entries.has(id) || aliased.has(id)) continue;
    entries.set(id, {
      ...entry(id, QUICK_START_OWNER, QUICK_START_CREATED),
      status: 'suggested',
      capabilities: ['chat'],
      ...pricing([priceOf(id)]),
    });
  }
  return [...entries.values()];
}

/** The routes that have a target, each with what the first one can do. */
function routedModels(
  routes: readonly RouteRule[],
  routable: ReadonlyMap<string, ServedModel>,
  routableIds: ReadonlySet<string>,
): ReadonlyMap<string, ServedModel> {
  return new Map(
    routes.flatMap(({ model, targets }) => {
      const found = targets.flatMap((target) => matchModel(target.model, routableIds) ?? []);
      const served = routable.get(found[0] ?? '');
      // The price depends on the target that serves: without backends none is listed.
      return served === undefined ? [] : [[model, { ...served, backends: [] }] as const];
    }),
  );
}

const entry = (id: string, owned_by: string, created: number) => ({
  id,
  object: 'model' as const,
  created,
  owned_by,
});

const details = (
  id: string,
  { capabilities, contextLength, backends }: ServedModel,
  priceOf: PriceBook['priceOf'],
) => ({
  capabilities: [...capabilities],
  ...(contextLength === undefined ? {} : { context_length: contextLength }),
  ...pricing(backends.map((backend) => priceOf(id, backend))),
});

/** Any of the backends may get a request, so the highest price is what clients can rely on. */
function pricing(found: readonly (FoundPrice | undefined)[]): Pick<ModelEntry, 'pricing'> {
  const prices = found.filter((price) => price !== undefined);
  if (prices.length === 0) return {};
  const highest = (rate: (price: FoundPrice) => number): string =>
    pricePerToken(Math.max(...prices.map(rate)));
  return {
    pricing: {
      prompt: highest(({ inputPerMillion }) => inputPerMillion),
      completion: highest(({ outputPerMillion }) => outputPerMillion),
      cached_prompt: highest((price) => price.cachedInputPerMillion ?? price.inputPerMillion),
    },
  };
}

function unixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
