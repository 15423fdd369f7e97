import { z } from 'zod';
import { modelId } from '../rpc/namespaces/records.ts';
import { capability } from './backends.ts';

const PROVIDER_CHARS_MAX = 255;

/** Why a target gets no request. */
const passReason = z.enum([
  'unhealthy',
  'circuit_open',
  'cooling',
  'key_refused',
  'full',
  'not_preferred',
  'no_capability',
  'tried',
  'model_not_listed',
  'not_in_route',
  'not_registered',
  'not_allowed',
  'too_dear',
]);

/** What can be asked besides the model and the key. */
export const routeConditions = {
  capability: capability.optional().describe('what the backend must be able to do'),
  provider: z
    .string()
    .min(1)
    .max(PROVIDER_CHARS_MAX)
    .optional()
    .describe('the name or kind of the only backend, as in a request'),
};

/** The query of `GET /api/admin/route`. */
export const routeQuerySchema = z.object({
  model: modelId,
  key: z.uuid().optional().describe('the id of an API key, whose rules and budget then count'),
  ...routeConditions,
});

/** Where a request for a model would go now. */
export const routeExplanationSchema = z.object({
  model: z.string(),
  /** The target of its alias, or the same id. */
  resolved: z.string(),
  key_id: z.uuid().nullable(),
  /** Whether the model has a route. */
  has_route: z.boolean(),
  /** How many targets a request is sent to at most. */
  attempts: z.int(),
  targets: z.array(
    z.object({
      /** 1 is tried first; null for what is skipped. */
      position: z.int().nullable(),
      /** Null for a target of a route that no backend serves. */
      backend: z.string().nullable(),
      type: z.string().nullable(),
      /** As the backend lists it. */
      model: z.string().nullable(),
      priority: z.int().nullable(),
      weight: z.number().nullable(),
      /** The part of the requests that are sent there first, by the weights of the route. */
      share: z.number().nullable(),
      /** Why it is skipped; null for what is tried. */
      reason: passReason.nullable(),
      detail: z.string().nullable(),
    }),
  ),
});
export type RouteExplanation = z.output<typeof routeExplanationSchema>;
