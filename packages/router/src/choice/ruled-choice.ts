import type { ProviderHint } from '@model-gateway/contracts';
import { byWeight, firstPriority, type RouteTarget } from '../routes/route-rule.ts';
import { leastUsed, type Candidate } from './choice.ts';
import type { RequestCounts } from './request-counts.ts';

/** A backend that a request was sent to, and its id of the model. */
export interface Tried {
  readonly backend: string;
  readonly model: string;
}

/** A candidate of a route. */
type RuledCandidate = Candidate & { readonly target: RouteTarget };

/** What decides between candidates. */
export interface ChoicePolicy {
  readonly counts: Pick<RequestCounts, 'of'>;
  readonly provider: ProviderHint | undefined;
  /** From 0 to below 1; for routes. */
  readonly random: number;
}

/**
 * The one of the usable candidates that a request is sent to; a pure function. Of the targets of a route, one of the first
 * priority by weight, and of its backends the least used.
 */
export function pickCandidate(
  candidates: readonly Candidate[],
  { counts, provider, random }: ChoicePolicy,
): Candidate | undefined {
  const ruled = candidates.filter(isRuled);
  if (ruled.length === 0) return leastUsed(candidates, counts, provider);
  const first = firstPriority(ruled);
  const target = byWeight([...new Set(first.map((candidate) => candidate.target))], random);
  return leastUsed(
    first.filter((candidate) => candidate.target === target),
    counts,
    provider,
  );
}

/** The candidates that a conversation may stay with: a route leaves those that are not of its first priority. */
export function keepable(candidates: readonly Candidate[]): readonly Candidate[] {
  const ruled = candidates.filter(isRuled);
  return ruled.length === 0 ? candidates : firstPriority(ruled);
}

/** A route may lead to two models of one backend; otherwise a backend is tried once. */
export const isTried = ({ slot, model, target }: Candidate, tried: readonly Tried[]): boolean =>
  tried.some(
    (one) => one.backend === slot.backend.name && (target === undefined || one.model === model),
  );

export const isRuled = (candidate: Candidate): candidate is RuledCandidate =>
  candidate.target !== undefined;
