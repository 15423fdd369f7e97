import type { BackendEntry, BackendList } from '../registry/backend-list.ts';
import type { LimitName } from '../limits/backend-limits.ts';
import type { Limits } from '../limits/limits.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { firstPriority, likeliest, sharesOf, type RoutedModel } from '../routes/route-rule.ts';
import { findListing, type BackendQuery, type Candidate } from './choice.ts';
import { consider, isRuled, rank, usableOf, type ChoiceFacts, type ChoicePolicy } from './rank.ts';
import type { SkipReason } from './choice-trace.ts';

/** Why a backend or target of a route gets no request. */
type ExplainedReason = SkipReason | 'not_in_route' | 'not_registered';

/** One backend, or one target of a route that no backend serves, in an explanation. */
export interface ExplainedTarget {
  /** Undefined for a target that every backend may serve and none does. */
  readonly backend: string | undefined;
  readonly kind: string | undefined;
  /** As the backend lists it; undefined if it does not. */
  readonly model: string | undefined;
  /** Of the route, where there is one. */
  readonly routed: RoutedModel | undefined;
  /** 1 is tried first; undefined for what is skipped. */
  readonly position: number | undefined;
  /** The part of the requests that go there first, by the weights of a route. */
  readonly share: number | undefined;
  readonly reason: ExplainedReason | undefined;
  /** More about the reason, for people. */
  readonly detail: string | undefined;
}

interface ExplainDependencies {
  readonly list: Pick<BackendList, 'all'>;
  readonly facts: ChoiceFacts;
  readonly limits: Pick<Limits, 'reached'>;
  readonly refusals: Pick<Refusals, 'coolingMs' | 'keyRefusal'>;
  readonly firstTokens: ChoicePolicy['firstTokens'];
  readonly counts: ChoicePolicy['counts'];
}

const MS_PER_SECOND = 1_000;
const MIDDLE = 0.5;

/** Says where a request would go now: what would be tried in which order, and why everything else is skipped. */
export function createExplain(dependencies: ExplainDependencies) {
  const { list, facts, limits, refusals, firstTokens, counts } = dependencies;

  /** The backends among these whose limits are reached, and the limit. */
  async function fullOf(entries: readonly BackendEntry[]): Promise<ReadonlyMap<string, LimitName>> {
    const full = new Map<string, LimitName>();
    for (const { backend, config } of new Set(entries)) {
      const limit = config.limits && (await limits.reached(backend.name, config.limits));
      if (limit !== undefined) full.set(backend.name, limit);
    }
    return full;
  }

  function detailOf({ entry, model, obstacle }: Candidate) {
    const { name } = entry.backend;
    if (obstacle === 'unhealthy') return entry.report.reason;
    if (obstacle === 'cooling') {
      const seconds = Math.ceil(refusals.coolingMs(name, model) / MS_PER_SECOND);
      return `the upstream limits its requests for another ${seconds} s`;
    }
    if (obstacle !== undefined) return undefined;
    const ms = firstTokens.medianMs(name, model, 'streamed');
    return refusals.keyRefusal(name) ?? (ms === undefined ? undefined : `first token in ${ms} ms`);
  }

  return async (query: BackendQuery): Promise<readonly ExplainedTarget[]> => {
    const { provider, rule } = query;
    const entries = list.all();
    const listing = findListing(entries, query);
    const full = await fullOf(listing.map(({ entry }) => entry));
    const now = { ...facts, isFull: (name: string) => full.has(name) };
    const considered = consider(entries, query, [], now);
    const strategy = rule?.strategy;
    const draw: ChoicePolicy['draw'] = (ruled) =>
      // The number that leads to the target with the greatest weight.
      strategy === 'fastest' ? MIDDLE : likeliest(routedModelsOf(firstPriority(ruled)));
    const ranked = [...rank(considered, now, { counts, provider, strategy, firstTokens, draw })];
    const shares = firstShares(usableOf(considered, now), query);
    const explained = ranked.map((one, at): ExplainedTarget => {
      const { entry, model, routed, obstacle } = one;
      const canServe = obstacle === undefined;
      return {
        backend: entry.backend.name,
        kind: entry.backend.kind,
        model,
        routed,
        position: canServe ? at + 1 : undefined,
        share: canServe && routed !== undefined ? shareOf(shares, one) : undefined,
        reason: obstacle,
        detail: obstacle === 'full' ? full.get(entry.backend.name) : detailOf(one),
      };
    });
    const known = new Set(considered.map(({ entry }) => entry));
    const others = entries
      .filter((entry) => entry.listed && !known.has(entry))
      .map(({ backend }) => ({
        ...NOTHING,
        backend: backend.name,
        kind: backend.kind,
        reason:
          query.rule === undefined ? ('model_not_listed' as const) : ('not_in_route' as const),
      }));
    const unserved = (query.rule?.targets ?? [])
      .filter((routed) => !considered.some((one) => one.routed === routed))
      .map((routed): ExplainedTarget => {
        const entry = entries.find(({ backend }) => backend.name === routed.backend);
        const isUnknown = routed.backend !== undefined && entry === undefined;
        return {
          ...NOTHING,
          backend: routed.backend,
          kind: entry?.backend.kind,
          routed,
          reason: isUnknown ? 'not_registered' : 'model_not_listed',
        };
      });
    const named = new Set(unserved.map(({ backend }) => backend));
    return [...explained, ...unserved, ...others.filter(({ backend }) => !named.has(backend))];
  };
}

const NOTHING = {
  model: undefined,
  routed: undefined,
  position: undefined,
  share: undefined,
  detail: undefined,
};

/** The parts of the requests that are sent first to each backend and model: the backends of one target share evenly. */
function firstShares(
  usable: readonly Candidate[],
  { rule }: BackendQuery,
): ReadonlyMap<string, number> | undefined {
  if (rule?.strategy === 'fastest') return undefined;
  const shares = new Map<string, number>();
  const ruled = usable.filter(isRuled);
  if (ruled.length === 0) return shares;
  const first = firstPriority(ruled);
  for (const [routed, share] of sharesOf(routedModelsOf(first))) {
    const own = first.filter((candidate) => candidate.routed === routed);
    for (const candidate of own) {
      const key = keyOf(candidate);
      shares.set(key, (shares.get(key) ?? 0) + share / own.length);
    }
  }
  return shares;
}

const keyOf = ({ entry, model }: Candidate): string => JSON.stringify([entry.backend.name, model]);

const shareOf = (
  shares: ReadonlyMap<string, number> | undefined,
  candidate: Candidate,
): number | undefined => shares && (shares.get(keyOf(candidate)) ?? 0);

const routedModelsOf = (candidates: readonly { readonly routed: RoutedModel }[]) => [
  ...new Set(candidates.map(({ routed }) => routed)),
];
