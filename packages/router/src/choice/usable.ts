import type { PassReason } from './choice-trace.ts';
import { matchesProvider } from './provider-match.ts';
import { findListing, type BackendQuery, type Candidate } from './choice.ts';
import { isTried, type TargetName } from './ruled-choice.ts';
import type { BackendEntry } from '../registry/backend-list.ts';
import type { Capability } from '../registry/backend.ts';

/** What is known about the backends now. */
export interface ChoiceFacts {
  /** Whether the circuits of the backend and of the operation let a request through. */
  permits(name: string, operation?: Capability): boolean;
  /** Whether there are no refusals at all: the usual case. */
  hasNoRefusals(): boolean;
  /** How long a model still cools on a backend; 0 if it does not. */
  coolingMs(name: string, model: string): number;
  isKeyRefused(name: string): boolean;
}

/** Why a candidate gets no request now, whatever other candidates there are. */
export function obstacleOf(
  candidate: Candidate,
  tried: readonly TargetName[],
  facts: ChoiceFacts,
  operation?: Capability,
): PassReason | undefined {
  const { entry, model } = candidate;
  const { name } = entry.backend;
  if (entry.report.state !== 'Healthy') return 'unhealthy';
  if (isTried(candidate, tried)) return 'tried';
  if (!facts.permits(name, operation)) return 'circuit_open';
  return facts.coolingMs(name, model) > 0 ? 'cooling' : undefined;
}

/** The candidates that a request may be sent to now. */
export function usableOf(
  candidates: readonly Candidate[],
  tried: readonly TargetName[],
  facts: ChoiceFacts,
  operation?: Capability,
): readonly Candidate[] {
  const ready = candidates.filter((one) => obstacleOf(one, tried, facts, operation) === undefined);
  if (facts.hasNoRefusals()) return ready;
  const trusted = ready.filter(({ entry: { backend } }) => !facts.isKeyRefused(backend.name));
  // The only backend is tried even so: its error says more than none, and its key may be good again.
  return trusted.length > 0 ? trusted : ready;
}

/** A candidate, and why it gets no request; undefined if it may get one. */
export interface CheckedCandidate extends Candidate {
  readonly reason: PassReason | undefined;
}

/** Every backend that lists the model, by the same conditions as a choice. */
export function checkCandidates(
  entries: readonly BackendEntry[],
  query: BackendQuery,
  tried: readonly TargetName[],
  facts: ChoiceFacts,
): readonly CheckedCandidate[] {
  const { capability, provider } = query;
  const all = findListing(entries, { ...query, provider: undefined });
  const preferred = all.filter(
    ({ entry }) => provider === undefined || matchesProvider(entry.backend, provider),
  );
  const able = preferred.filter(
    ({ entry, model }) => capability === undefined || entry.can(capability, model),
  );
  const usable = usableOf(able, tried, facts, capability);
  const reasonOf = (candidate: Candidate): PassReason | undefined => {
    if (usable.includes(candidate)) return undefined;
    if (!preferred.includes(candidate)) return 'not_preferred';
    if (!able.includes(candidate)) return 'no_capability';
    return obstacleOf(candidate, tried, facts, capability) ?? 'key_refused';
  };
  return all.map((candidate) => ({ ...candidate, reason: reasonOf(candidate) }));
}
