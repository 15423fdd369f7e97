import {
  RETRY_REASONS,
  ROUTE_STRATEGIES,
  type RouteRule,
  type RouteRuleStore,
} from '@model-gateway/router';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';

const ruleSchema = z.object({
  targets: z.array(
    z.object({
      model: z.string(),
      backend: z.string().optional(),
      priority: z.int(),
      weight: z.number(),
    }),
  ),
  strategy: z.enum(ROUTE_STRATEGIES).optional(),
  attempts: z.int(),
  timeoutMs: z.number().optional(),
  retryOn: z.array(z.enum(RETRY_REASONS)),
  hedgeAfterMs: z.number().optional(),
  cacheTtlSecs: z.int().optional(),
});

/** Routes in Postgres. */
export function createPostgresRouteRules(connection: Connection): RouteRuleStore {
  return {
    list: () =>
      connection.run(async (queries) => {
        const rows = await queries.routeRule.findMany({ orderBy: { model: 'asc' } });
        return rows.flatMap(({ model, rule }): RouteRule[] => {
          // A row that a newer version wrote, or a person: the others stay valid.
          const parsed = ruleSchema.safeParse(rule);
          return parsed.success ? [{ model, ...parsed.data }] : [];
        });
      }),

    set: ({ model, ...fields }) =>
      connection.run(async (queries) => {
        const rule = ruleSchema.parse(fields);
        await queries.routeRule.upsert({
          where: { model },
          create: { model, rule },
          update: { rule },
          select: { model: true },
        });
      }),

    remove: (model) =>
      connection.run(async (queries) => {
        const { count } = await queries.routeRule.deleteMany({ where: { model } });
        return count > 0;
      }),
  };
}
