import { viewUsage, type UsageQueries, type UsageSums } from '@model-gateway/billing';
import {
  problemText,
  ServiceError,
  usageQuerySchema,
  type ErrorCode,
  type usageQueryResultSchema,
} from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { z } from 'zod';
import { administration } from '../operations/administration.ts';
import type { ServeOperation } from '../operations/serve-operation.ts';
import { readAdminBody } from './admin-request.ts';

type UsageQueryResult = z.input<typeof usageQueryResultSchema>;

/** `/api/admin/usage/query`. */
export function serveUsageQuery(serve: ServeOperation, usage: UsageQueries): void {
  serve(administration.queryUsage, async (request) => {
    const query = readQuery(await readAdminBody(request));
    const { ref_ids, since, until, group_by, include_records, limit, offset } = query;
    const filter = { refIds: ref_ids, since: since ?? undefined, until: until ?? undefined };
    const { totals, groups, records } = await usage.find(filter, {
      by: group_by ?? undefined,
      page: include_records ? { limit, offset } : undefined,
    });
    return {
      totals: sumsRecord(totals),
      ...(groups === undefined
        ? {}
        : { groups: groups.map(({ key, ...sums }) => ({ key, ...sumsRecord(sums) })) }),
      ...(records === undefined
        ? {}
        : {
            records: records.map((record) => ({
              ...viewUsage(record),
              api_key_id: record.apiKeyId,
            })),
            records_total: totals.requests,
            limit,
            offset,
          }),
    };
  });
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

const sumsRecord = (sums: UsageSums): UsageQueryResult['totals'] => ({
  requests: sums.requests,
  prompt_tokens: sums.promptTokens,
  completion_tokens: sums.completionTokens,
  total_tokens: sums.totalTokens,
  cost_usd: sums.costUsd,
});
