import type { BackendList } from '../registry/backend-list.ts';
import type { BackendKind } from '../registry/backend.ts';
import type { LimitName } from '../limits/backend-limits.ts';
import type { Limits } from '../limits/limits.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { firstPriority, likeliest, sharesOf, type RoutedModel } from '../routes/route-rule.ts';
import type { BackendQuery, Candidate } from './choice.ts';
import { isRuled, type FirstTokenTimes, type TargetName } from './ruled-choice.ts';
import type { PassReason } from './choice-trace.ts';
import { checkCandidates, usableOf, type ChoiceFacts, type CheckedCandidate } from './usable.ts';

/** Why a backend or target of a route gets no request. */
type ExplainedReason = PassReason | 'model_not_listed' | 'not_in_route' | 'not_registered';

/** One backend, or one target of a route that no backend serves, in an explanation. */
export interface ExplainedTarget {
  /** Undefined for a target that every backend may serve and none does. */
  readonly backend: string | undefined;
  readonly kind: BackendKind | undefined;
  /** As the backend lists it; undefined if it does not. */
  readonly model: string | undefined;
  /** Of the route, where there is one. */
  readonly target: RoutedModel | undefined;
  /** 1 is tried first; undefined for what is passed over. */
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
  readonly firstTokens: FirstTokenTimes;
  /** The choice that serves requests. */
  readonly pick: (
    usable: readonly Candidate[],
    query: BackendQuery,
    random: number,
  ) => Candidate | undefined;
}

const MS_PER_SECOND = 1_000;
const MIDDLE = 0.5;

/** Says where a request would go now: what would be tried in which order, and why everything else is passed over. */
export function createExplain(dependencies: ExplainDependencies) {
  const { list, facts, limits, refusals, firstTokens, pick } = dependencies;

  const reachedBy = async ({ entry }: Candidate): Promise<LimitName | undefined> =>
    entry.config.limits && limits.reached(entry.backend.name, entry.config.limits);

  /** Chooses again and again, as for a request that fails everywhere. */
  async function inOrder(able: readonly Candidate[], query: BackendQuery) {
    const order: Candidate[] = [];
    const full = new Map<Candidate, LimitName>();
    const tried: TargetName[] = [];
    for (;;) {
      const usable = usableOf(able, tried, facts, query.capability);
      const best = pick(usable, query, randomFor(usable, query));
      if (best === undefined) return { order, full };
      const limit = await reachedBy(best);
      if (limit === undefined) order.push(best);
      else full.set(best, limit);
      tried.push(triedOf(best));
    }
  }

  function detailOf({ entry, model }: Candidate, reason: ExplainedReason | undefined) {
    const { name } = entry.backend;
    if (reason === 'unhealthy') return entry.report.reason;
    if (reason === 'cooling') {
      const seconds = Math.ceil(refusals.coolingMs(name, model) / MS_PER_SECOND);
      return `the upstream limits its requests for another ${seconds} s`;
    }
    if (reason !== undefined) return undefined;
    const ms = firstTokens.medianMs(name, model, 'streamed');
    return refusals.keyRefusal(name) ?? (ms === undefined ? undefined : `first token in ${ms} ms`);
  }

  return async (query: BackendQuery): Promise<readonly ExplainedTarget[]> => {
    const entries = list.all();
    const checked = checkCandidates(entries, query, [], facts);
    const able = checked.filter(({ reason }) => !isExcluded(reason));
    const { order, full } = await inOrder(able, query);
    const tried = [...full.keys()].map(triedOf);
    const shares = firstShares(usableOf(able, tried, facts, query.capability), query);
    const explained = checked.map((one): ExplainedTarget => {
      const position = order.indexOf(one);
      const limit = full.get(one);
      const reason = position === -1 ? reasonOf(one, limit) : undefined;
      return {
        backend: one.entry.backend.name,
        kind: one.entry.backend.kind,
        model: one.model,
        target: one.target,
        position: position === -1 ? undefined : position + 1,
        share: position === -1 || !one.target ? undefined : shareOf(shares, one),
        reason,
        detail: limit ?? detailOf(one, reason),
      };
    });
    const known = new Set(checked.map(({ entry }) => entry));
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
      .filter((target) => !checked.some((one) => one.target === target))
      .map((target): ExplainedTarget => {
        const entry = entries.find(({ backend }) => backend.name === target.backend);
        const isUnknown = target.backend !== undefined && entry === undefined;
        return {
          ...NOTHING,
          backend: target.backend,
          kind: entry?.backend.kind,
          target,
          reason: isUnknown ? 'not_registered' : 'model_not_listed',
        };
      });
    const named = new Set(unserved.map(({ backend }) => backend));
    return [
      ...explained.toSorted(
        (one, other) => (one.position ?? Infinity) - (other.position ?? Infinity) || 0,
      ),
      ...unserved,
      ...others.filter(({ backend }) => !named.has(backend)),
    ];
  };
}

const NOTHING = {
  model: undefined,
  target: undefined,
  position: undefined,
  share: undefined,
  detail: undefined,
};

/** Whether no attempt of the request can go there, whatever was tried before. */
const isExcluded = (reason: PassReason | undefined): boolean =>
  reason === 'not_preferred' || reason === 'no_capability';

const reasonOf = ({ reason }: CheckedCandidate, limit: LimitName | undefined): PassReason =>
  limit === undefined ? (reason ?? 'tried') : 'full';

/** The number that leads to the target with the greatest weight. */
function randomFor(usable: readonly Candidate[], { rule }: BackendQuery): number {
  if (rule?.strategy === 'fastest') return MIDDLE;
  const ruled = usable.filter(isRuled);
  return ruled.length === 0 ? MIDDLE : likeliest(targetsOf(firstPriority(ruled)));
}

const triedOf = ({ entry, model }: Candidate): TargetName => ({
  backend: entry.backend.name,
  model,
});

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
  for (const [target, share] of sharesOf(targetsOf(first))) {
    const own = first.filter((candidate) => candidate.target === target);
    for (const candidate of own) {
      const key = keyOf(candidate);
      shares.set(key, (shares.get(key) ?? 0) + share / own.length);
    }
  }
  return shares;
}

const keyOf = (candidate: Candidate): string => JSON.stringify(triedOf(candidate));

const shareOf = (
  shares: ReadonlyMap<string, number> | undefined,
  candidate: Candidate,
): number | undefined => shares && (shares.get(keyOf(candidate)) ?? 0);

const targetsOf = (candidates: readonly { readonly target: RoutedModel }[]) => [
  ...new Set(candidates.map(({ target }) => target)),
];
