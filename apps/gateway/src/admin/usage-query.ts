import type {
  UsageFilter,
  UsageGrouping,
  UsageQueries,
  UsageRecord,
  UsageSums,
} from '@model-gateway/billing';
import {
  problemText,
  ServiceError,
  usageQuerySchema,
  type ErrorCode,
  type usageQueryResultSchema,
} from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import { Router } from 'express';
import type { z } from 'zod';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { readAdminBody } from './admin-request.ts';

type UsageQueryResult = z.input<typeof usageQueryResultSchema>;

/** `/api/admin/usage/query`. */
export function createUsageQueryAdmin(usage: UsageQueries): Router {
  const routes = Router();
  routes
    .route('/')
    .post(async (request, response) => {
      const query = readQuery(await readAdminBody(request));
      const { ref_ids, since, until, group_by, include_records, limit, offset } = query;
      const filter = { refIds: ref_ids, since: since ?? undefined, until: until ?? undefined };
      const [{ totals, groups }, records] = await Promise.all([
        sum(usage, filter, group_by ?? undefined),
        include_records ? usage.records(filter, { limit, offset }) : undefined,
      ]);
      response.json({
        totals: sumsRecord(totals),
        ...(groups === undefined
          ? {}
          : { groups: groups.map(({ key, ...sums }) => ({ key, ...sumsRecord(sums) })) }),
        ...(records === undefined
          ? {}
          : {
              records: records.map(usageRecord),
              records_total: totals.requests,
              limit,
              offset,
            }),
      } satisfies UsageQueryResult);
    })
    .all(onlyTheseMethods('POST'));
  return routes;
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  since: 'bad_since',
  until: 'bad_until',
  group_by: 'bad_group_by',
};

function readQuery(body: unknown): z.output<typeof usageQuerySchema> {
  const parsed = usageQuerySchema.safeParse(body);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const field = String(issue.path[0]);
    const code = CODES[field];
    if (code !== undefined) throw new ServiceError(code, `'${field}': ${problemText(issue)}`);
  }
  return validated(usageQuerySchema, body);
}

async function sum(usage: UsageQueries, filter: UsageFilter, by: UsageGrouping | undefined) {
  if (by !== undefined) return usage.groups(filter, by);
  return { totals: await usage.totals(filter), groups: undefined };
}

const sumsRecord = (sums: UsageSums): UsageQueryResult['totals'] => ({
  requests: sums.requests,
  prompt_tokens: sums.promptTokens,
  completion_tokens: sums.completionTokens,
  total_tokens: sums.totalTokens,
  cost_usd: sums.costUsd,
});

function usageRecord(record: UsageRecord): NonNullable<UsageQueryResult['records']>[number] {
  return {
    id: record.id,
    ref_id: record.refId,
    api_key_id: record.apiKeyId,
    model: record.model,
    backend: record.backend,
    prompt_tokens: record.promptTokens,
    completion_tokens: record.completionTokens,
    total_tokens: record.totalTokens,
    cost: record.cost,
    created_at: record.createdAt.toISOString(),
    points: record.points,
    account_type: record.accountType,
    key_id: record.keyId,
    project: record.project,
    user_id: record.userId,
    group_id: record.groupId,
    upstream: record.upstream,
    cached_tokens: record.cachedTokens,
    latency_ms: record.latencyMs,
    first_token_ms: record.firstTokenMs,
    status: record.status,
    cache_write_tokens: record.cacheWriteTokens,
    images: record.images,
    audio_seconds: record.audioSeconds,
    price: record.price,
    cached: record.cached ?? false,
  };
}
