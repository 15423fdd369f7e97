import type { ProviderHint } from '@model-gateway/contracts';
import type { BackendEntry } from '../registry/backend-list.ts';
import type { Capability } from '../registry/backend.ts';
import {
  byWeight,
  firstPriority,
  type RouteStrategy,
  type RoutedModel,
} from '../routes/route-rule.ts';
import type { SkipReason } from './choice-trace.ts';
import {
  findListing,
  isPreferred,
  type BackendQuery,
  type Candidate,
  type TargetName,
} from './choice.ts';
import { ANSWER_KINDS, type FirstTokens } from './first-tokens.ts';
import { providerRank } from './provider-match.ts';
import type { RequestCounts } from './request-counts.ts';

/** A candidate of a route. */
type RuledCandidate = Candidate & { readonly routed: RoutedModel };

/** What is known about the backends now. */
export interface ChoiceFacts {
  /** Whether the circuits of the backend and of the operation let a request through. */
  permits(name: string, operation?: Capability): boolean;
  /** Whether there are no refusals at all: the usual case. */
  hasNoRefusals(): boolean;
  /** How long a model still cools on a backend; 0 if it does not. */
  coolingMs(name: string, model: string): number;
  isKeyRefused(name: string): boolean;
  /** Whether the limits of a backend are reached; absent where that is found by taking a place. */
  isFull?(name: string): boolean;
}

/** What decides between candidates that can serve. */
export interface ChoicePolicy {
  readonly counts: Pick<RequestCounts, 'of'>;
  readonly provider: ProviderHint | undefined;
  readonly strategy?: RouteStrategy | undefined;
  readonly firstTokens: Pick<FirstTokens, 'medianMs'>;
  /** Draws a number from 0 to below 1 for a choice between these; for routes. */
  readonly draw: (candidates: readonly RuledCandidate[]) => number;
}

/** Every backend that lists the model, in the order of registration or of the route, and what keeps it from serving. */
export function consider(
  entries: readonly BackendEntry[],
  query: BackendQuery,
  tried: readonly TargetName[],
  facts: ChoiceFacts,
): readonly Candidate[] {
  const candidates = findListing(entries, query);
  // In place, because this runs for every request.
  for (const one of candidates) one.obstacle = obstacleOf(one, query, tried, facts);
  return candidates;
}

function obstacleOf(
  candidate: Candidate,
  query: BackendQuery,
  tried: readonly TargetName[],
  facts: ChoiceFacts,
): SkipReason | undefined {
  const { entry, model } = candidate;
  const { capability } = query;
  const { name } = entry.backend;
  if (!isPreferred(entry, query)) return 'not_preferred';
  if (capability !== undefined && !entry.can(capability, model)) return 'no_capability';
  if (entry.report.state !== 'Healthy') return 'unhealthy';
  if (isTried(candidate, tried)) return 'tried';
  if (!facts.permits(name, capability)) return 'circuit_open';
  if (facts.coolingMs(name, model) > 0) return 'cooling';
  return facts.isFull?.(name) === true ? 'full' : undefined;
}

/** The candidates that a request may be sent to now. */
export function usableOf(
  considered: readonly Candidate[],
  facts: ChoiceFacts,
): readonly Candidate[] {
  const isAnySkipped = considered.some(({ obstacle }) => obstacle !== undefined);
  const ready = isAnySkipped
    ? considered.filter(({ obstacle }) => obstacle === undefined)
    : considered;
  const having = preferably(ready, ({ entry, model }) => !entry.lacks(model));
  return facts.hasNoRefusals()
    ? having
    : preferably(having, ({ entry: { backend } }) => !facts.isKeyRefused(backend.name));
}

/** Those among them, or all: the only backend is tried even so. Its error says more than none, and it may be good again. */
function preferably(
  candidates: readonly Candidate[],
  isPreferable: (candidate: Candidate) => boolean,
): readonly Candidate[] {
  if (candidates.every(isPreferable)) return candidates;
  const found = candidates.filter(isPreferable);
  return found.length > 0 ? found : candidates;
}

/**
 * The candidates in order of preference, as a request that fails everywhere would be sent to them, and then those that cannot
 * serve it. A backend with a refused key, or
 * whose upstream says that it does not have the model, comes after the others. Of the targets of a route, one of the first priority by
 * weight comes first, and of its backends the least used; the order of a request decides within a priority. Nothing is
 * computed that is not asked for: a choice takes only the first.
 */
export function* rank(
  considered: readonly Candidate[],
  facts: ChoiceFacts,
  policy: ChoicePolicy,
): Generator<Candidate, void, void> {
  const ranked: Candidate[] = [];
  let left = considered;
  for (;;) {
    const best = preferred(usableOf(left, facts), policy);
    if (best === undefined) break;
    yield best;
    ranked.push(best);
    // A route may lead to the same model of a backend twice.
    const { name } = best.entry.backend;
    left = left.filter((one) => !isTried(one, [{ backend: name, model: best.model }]));
  }
  for (const one of considered) {
    if (!ranked.includes(one))
      yield one.obstacle === undefined ? { ...one, obstacle: 'tried' } : one;
  }
}

/** The one of the usable candidates that a request is sent to. */
function preferred(candidates: readonly Candidate[], policy: ChoicePolicy): Candidate | undefined {
  const { counts, provider, draw } = policy;
  // With a route all of them are of it.
  if (candidates[0]?.routed === undefined)
    return leastUsed(firstInOrder(candidates, provider), counts);
  const ruled = candidates.filter(isRuled);
  const random = draw(ruled);
  const first = firstInOrder(firstPriority(ruled), provider);
  if (policy.strategy === 'fastest') return fastest(first, policy, random);
  const routed = byWeight([...new Set(first.map((candidate) => candidate.routed))], random);
  return leastUsed(
    first.filter((candidate) => candidate.routed === routed),
    counts,
  );
}

/** Those that the hint of a request puts first; all of them without one. */
function firstInOrder<Usable extends Candidate>(
  candidates: readonly Usable[],
  provider: ProviderHint | undefined,
): readonly Usable[] {
  if (provider === undefined) return candidates;
  const ranks = candidates.map(({ entry }) => providerRank(entry.backend, provider));
  const first = Math.min(...ranks);
  return candidates.filter((_candidate, at) => ranks[at] === first);
}

/** The share of requests that go to any candidate, so that a backend that has become fast is found. */
const EXPLORED = 0.05;
/** Backends that are slower than the fastest by no more than this share the requests. */
const AS_FAST = 1.2;

/**
 * The backend with the fastest first token, and now and then another one. While one has not been measured, all get the same
 * part of the requests.
 */
function fastest(
  candidates: readonly Candidate[],
  { counts, firstTokens }: ChoicePolicy,
  random: number,
): Candidate | undefined {
  const times = timesOf(candidates, firstTokens);
  if (times === undefined) return candidates[Math.floor(random * candidates.length)];
  if (random < EXPLORED) return candidates[Math.floor((random / EXPLORED) * candidates.length)];
  const within = Math.min(...times) * AS_FAST;
  const fast = candidates.filter((_candidate, at) => (times[at] ?? Infinity) <= within);
  return leastUsed(fast, counts);
}

/** The times of the first kind of answer that all of them are measured by. */
function timesOf(
  candidates: readonly Candidate[],
  firstTokens: ChoicePolicy['firstTokens'],
): readonly number[] | undefined {
  for (const kind of ANSWER_KINDS) {
    const times = candidates.flatMap(
      ({ entry, model }) => firstTokens.medianMs(entry.backend.name, model, kind) ?? [],
    );
    if (times.length === candidates.length) return times;
  }
  return undefined;
}

/** The one with the fewest requests, of those the one that was registered first. */
function leastUsed(
  candidates: readonly Candidate[],
  counts: ChoicePolicy['counts'],
): Candidate | undefined {
  let best: Candidate | undefined;
  let fewest = Infinity;
  for (const candidate of candidates) {
    const requests = counts.of(candidate.entry.backend.name);
    if (requests >= fewest) continue;
    best = candidate;
    fewest = requests;
  }
  return best;
}

/** The candidates that a conversation may stay with: with a route, only those of the lowest priority number among them. */
export function keepable(candidates: readonly Candidate[]): readonly Candidate[] {
  const ruled = candidates.filter(isRuled);
  return ruled.length === 0 ? candidates : firstPriority(ruled);
}

/** A request may be sent to two models of one backend, but to each of them once. */
const isTried = ({ entry, model }: Candidate, tried: readonly TargetName[]): boolean =>
  tried.some((one) => one.backend === entry.backend.name && one.model === model);

export const isRuled = (candidate: Candidate): candidate is RuledCandidate =>
  candidate.routed !== undefined;
