import { z } from 'zod';

/** How many attempts of one request are kept. */
export const ATTEMPTS_MAX = 16;

/** One backend that a request was sent to, or was not and why. */
export const requestAttempt = z.object({
  backend: z.string().max(255),
  /** As that backend lists it. */
  model: z.string().max(255),
  /** `left`: the client disconnected first, or, with the reason `hedged`, another target answered first. `skipped`: the backend was not tried. */
  outcome: z.enum(['answered', 'failed', 'left', 'skipped']),
  /** The kind of failure, or why it was skipped. */
  reason: z.string().max(200).nullable(),
  /** The HTTP status of the upstream, where it sent one. */
  status: z.int().nullable(),
  /** From the attempt until its response began or it failed. */
  ms: z.int().nonnegative(),
  /** What an upstream may have charged for an attempt that another one answered, at least: its prompt, estimated. */
  prompt_tokens: z.int().nonnegative().nullish(),
  /** The price of that in USD; null without a price. It is not billed to the user. */
  cost: z.number().nonnegative().nullish(),
});

export type RequestAttempt = z.output<typeof requestAttempt>;
