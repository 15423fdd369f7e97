import type { TextKey } from '../../texts/texts.ts';

/** Why a backend was skipped is kept as a code, with the meaning that explanations of routing have. */
const SKIPPED: Readonly<Record<string, TextKey>> = {
  unhealthy: 'explain.reason.unhealthy',
  circuit_open: 'explain.reason.circuit_open',
  cooling: 'explain.reason.cooling',
  key_refused: 'explain.reason.key_refused',
  model_not_listed: 'explain.reason.model_not_listed',
  full: 'explain.reason.full',
  not_preferred: 'explain.reason.not_preferred',
  no_capability: 'explain.reason.no_capability',
};

/** The text of a reason; undefined for one that has none, such as the kind of a failure. */
export const textOfReason = (reason: string): TextKey | undefined =>
  Object.hasOwn(SKIPPED, reason) ? SKIPPED[reason] : undefined;
