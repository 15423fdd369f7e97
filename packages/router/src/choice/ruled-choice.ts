import type { ProviderHint } from '@model-gateway/contracts';
import {
  byWeight,
  firstPriority,
  type RouteStrategy,
  type RoutedModel,
} from '../routes/route-rule.ts';
import { leastUsed, type Candidate } from './choice.ts';
import { providerRank } from './provider-match.ts';
import type { RequestCounts } from './request-counts.ts';

/** A backend that a request was sent to, and its id of the model. */
export interface TargetName {
  readonly backend: string;
  readonly model: string;
}

/** A candidate of a route. */
type RuledCandidate = Candidate & { readonly target: RoutedModel };

/** Whole answers take longer than first tokens, so that they are compared only with each other. */
export const ANSWER_KINDS = ['streamed', 'whole'] as const;
export type AnswerKind = (typeof ANSWER_KINDS)[number];

/** How fast backends are. */
export interface FirstTokenTimes {
  /** The median time until the first token, or until a whole answer; undefined where nothing was measured. */
  medianMs(name: string, model: string, kind: AnswerKind): number | undefined;
}

/** What decides between candidates. */
interface ChoicePolicy {
  readonly counts: Pick<RequestCounts, 'of'>;
  readonly provider: ProviderHint | undefined;
  readonly strategy?: RouteStrategy | undefined;
  readonly firstTokens: FirstTokenTimes;
  /** From 0 to below 1; for routes. */
  readonly random: number;
}

/**
 * The one of the usable candidates that a request is sent to; a pure function. Of the targets of a route, one of the first
 * priority by weight, and of its backends the least used. The order of a request decides within a priority.
 */
export function pickCandidate(
  candidates: readonly Candidate[],
  policy: ChoicePolicy,
): Candidate | undefined {
  const { counts, provider, random } = policy;
  const ruled = candidates.filter(isRuled);
  if (ruled.length === 0) return leastUsed(candidates, counts, provider);
  const first = firstInOrder(firstPriority(ruled), provider);
  if (policy.strategy === 'fastest') return fastest(first, policy);
  const target = byWeight([...new Set(first.map((candidate) => candidate.target))], random);
  return leastUsed(
    first.filter((candidate) => candidate.target === target),
    counts,
    provider,
  );
}

/** Those that the hint of a request puts first; all of them without one. */
function firstInOrder(
  candidates: readonly RuledCandidate[],
  provider: ProviderHint | undefined,
): readonly RuledCandidate[] {
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
  { counts, provider, firstTokens, random }: ChoicePolicy,
): Candidate | undefined {
  const times = timesOf(candidates, firstTokens);
  if (times === undefined) return candidates[Math.floor(random * candidates.length)];
  if (random < EXPLORED) return candidates[Math.floor((random / EXPLORED) * candidates.length)];
  const within = Math.min(...times) * AS_FAST;
  const fast = candidates.filter((_candidate, at) => (times[at] ?? Infinity) <= within);
  return leastUsed(fast, counts, provider);
}

/** The times of the first kind of answer that all of them are measured by. */
function timesOf(
  candidates: readonly Candidate[],
  firstTokens: FirstTokenTimes,
): readonly number[] | undefined {
  for (const kind of ANSWER_KINDS) {
    const times = candidates.flatMap(
      ({ entry, model }) => firstTokens.medianMs(entry.backend.name, model, kind) ?? [],
    );
    if (times.length === candidates.length) return times;
  }
  return undefined;
}

/** The candidates that a conversation may stay with: with a route, only those of the lowest priority number among them. */
export function keepable(candidates: readonly Candidate[]): readonly Candidate[] {
  const ruled = candidates.filter(isRuled);
  return ruled.length === 0 ? candidates : firstPriority(ruled);
}

/** A request may be sent to two models of one backend, but to each of them once. */
export const isTried = ({ entry, model }: Candidate, tried: readonly TargetName[]): boolean =>
  tried.some((one) => one.backend === entry.backend.name && one.model === model);

export const isRuled = (candidate: Candidate): candidate is RuledCandidate =>
  candidate.target !== undefined;
