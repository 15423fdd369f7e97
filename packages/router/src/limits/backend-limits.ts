/** What a backend may be sent, over all processes; an absent limit does not apply. */
export interface BackendLimits {
  /** Requests per minute. */
  readonly rpm?: number | undefined;
  /** Tokens per minute. They are counted when a request ends. */
  readonly tpm?: number | undefined;
  /** Requests at the same time. */
  readonly concurrency?: number | undefined;
  /** Tokens per day in UTC. */
  readonly tokensPerDay?: number | undefined;
}

/** The limits in the order in which they are checked. */
export const LIMIT_NAMES = ['concurrency', 'rpm', 'tpm', 'tokensPerDay'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Only the limits that apply; undefined where none does. */
export function appliedLimits(
  limits: { readonly [name in LimitName]?: number | null | undefined } | null | undefined,
): BackendLimits | undefined {
  const applied = LIMIT_NAMES.flatMap((name) => {
    const limit = limits?.[name];
    return limit === null || limit === undefined ? [] : [[name, limit] as const];
  });
  return applied.length === 0 ? undefined : Object.fromEntries(applied);
}
