import { z } from 'zod';
import { boundedArray } from '../../bounded-array.ts';
import { routeConditions, routeExplanationSchema } from '../../rest/route.ts';
import { entrySource } from '../../entry-source.ts';
import { answerCache } from './answer-cache.ts';
import { method } from '../method.ts';
import { done, listLimit, modelId, record, text } from './records.ts';

const TARGETS_MAX = 32;
const PRIORITY_MAX = 1_000;
const WEIGHT_MAX = 1_000_000;
const ATTEMPTS_MAX = 5;
const TIMEOUT_SECS_MAX = 3_600;
const HEDGE_AFTER_MS_MAX = 600_000;
const BACKEND_CHARS_MAX = 255;
const RETRY_REASONS_MAX = 4;

const retryReason = z.enum(['transport', 'timeout', '5xx', '429']);

const strategy = z.enum(['weighted', 'fastest']);

const target = z.object({
  model: modelId,
  backend: text(BACKEND_CHARS_MAX)
    .min(1)
    .nullish()
    .describe('the name of the only backend; without it, every backend that lists the model'),
  priority: z.int().min(0).max(PRIORITY_MAX).default(0).describe('0 is first'),
  weight: z
    .number()
    .min(0)
    .max(WEIGHT_MAX)
    .default(1)
    .describe('the share among the targets of the same priority'),
});

const route = record('Route', {
  model: z.string(),
  targets: z.array(
    z.object({
      model: z.string(),
      backend: z.string().nullable(),
      priority: z.int(),
      weight: z.number(),
    }),
  ),
  strategy,
  attempts: z.int(),
  timeout_secs: z.number().nullable(),
  hedge_after_ms: z.int().nullable(),
  retry_on: z.array(retryReason),
  cache: answerCache.nullable(),
  source: entrySource,
});

const explanation = record('RouteExplanation', routeExplanationSchema.shape);

export const routesMethods = {
  'routes.list': method({
    auth: 'admin-or-admin-token',
    summary: 'List the routes, at most 1,000 at a time.',
    isExtension: true,
    params: z.object({
      after: modelId.nullish().describe('only routes after the one of this model'),
      limit: listLimit,
    }),
    result: z.array(route),
  }),
  'routes.set': method({
    auth: 'admin-or-admin-token',
    summary:
      'Set where the requests for a model go: the targets of the lowest priority that are up share them by weight.',
    isExtension: true,
    params: z.object({
      model: modelId,
      targets: boundedArray(target, { min: 1, max: TARGETS_MAX }),
      strategy: strategy
        .default('weighted')
        .describe('how targets of the same priority share: by weight, or the fastest first token'),
      attempts: z
        .int()
        .min(1)
        .max(ATTEMPTS_MAX)
        .default(2)
        .describe('how many targets a request is sent to at most'),
      timeout_secs: z
        .number()
        .positive()
        .max(TIMEOUT_SECS_MAX)
        .nullish()
        .describe('how long each target may take until its first byte'),
      hedge_after_ms: z
        .int()
        .min(1)
        .max(HEDGE_AFTER_MS_MAX)
        .nullish()
        .describe('after this time without a first byte, a second target is asked as well (chats)'),
      retry_on: boundedArray(retryReason, { max: RETRY_REASONS_MAX })
        .optional()
        .describe('the failures after which another target is tried; all by default'),
      cache: answerCache
        .nullish()
        .describe('equal requests of a tenant get a stored answer until it is so old'),
    }),
    result: done,
  }),
  'routes.explain': method({
    auth: 'admin-or-admin-token',
    summary:
      'Where a request for a model would go now: what would be tried in which order, and why everything else is passed over.',
    isExtension: true,
    params: z.object({
      model: modelId,
      key_id: z.uuid().optional().describe('an API key, whose rules and budget then count'),
      ...routeConditions,
    }),
    result: explanation,
  }),
  'routes.remove': method({
    auth: 'admin-or-admin-token',
    summary: 'Remove the route of a model.',
    isExtension: true,
    params: z.object({ model: modelId }),
    result: done,
  }),
};
