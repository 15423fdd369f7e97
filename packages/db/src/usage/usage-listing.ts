import type { UsagePage, UsageRecord, UsageStore } from '@model-gateway/billing';
import { mediaTokens as mediaTokensRecord, priceRecord } from '@model-gateway/contracts';
import type { Queries } from '../connection/connection.ts';
import { Prisma, type UsageRecord as UsageRow } from '../generated/client.ts';
import { NIL_UUID } from '../connection/nil-uuid.ts';
import { USAGE_RECORD } from './usage-record-columns.ts';

// What an earlier or later version wrote may have another form.
const priceSchema = priceRecord.nullable().catch(null);
const mediaTokensSchema = mediaTokensRecord.nullable().catch(null);

type ListQuery = Parameters<UsageStore['list']>[0];

/** A row with the total beside it; an empty page is one row with the total alone. */
type FoundRow = { readonly total: bigint } & (StoredRecord | { readonly id: null });

/** A row under the names of its record. */
type StoredRecord = Omit<UsageRow, 'backend'> & { readonly surface: string };

/**
 * A page of a user's rows. The total is read from kept sums, however many rows there are; one statement, so that both are of the
 * same moment.
 */
export async function listUsage(queries: Queries, query: ListQuery): Promise<UsagePage> {
  const { userId, project, limit, offset } = query;
  // No key has it.
  if (project === '') return { records: [], total: 0 };
  const [ofProject, counts] =
    project === undefined
      ? [Prisma.empty, Prisma.sql`FROM quota_usage WHERE user_id = ${userId}::uuid`]
      : [
          Prisma.sql`AND project = ${project} AND key_id IS NOT NULL`,
          Prisma.sql`
            FROM usage_by_account_day
            WHERE user_id = ${userId}::uuid AND project = ${project} AND key_id <> ${NIL_UUID}::uuid`,
        ];
  const found = await queries.$queryRaw<FoundRow[]>`
    SELECT counted.total, page.*
    FROM (
      SELECT COALESCE(sum(requests), 0)::bigint AS total ${counts}
    ) AS counted
    LEFT JOIN (
      SELECT ${USAGE_RECORD} FROM usage_records
      WHERE user_id = ${userId}::uuid ${ofProject}
      ORDER BY created_at DESC, id ASC
      LIMIT ${limit} OFFSET ${offset}
    ) AS page ON true
    ORDER BY page."createdAt" DESC, page.id ASC`;
  const rows = found.map(({ total, ...row }) => ({ total, row }));
  return {
    records: rows.flatMap(({ row }) => (row.id === null ? [] : [toRecord(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

function toRecord(row: StoredRecord): UsageRecord {
  const { accountType, price, mediaTokens, ...record } = row;
  return {
    ...record,
    price: priceSchema.parse(price),
    mediaTokens: mediaTokensSchema.parse(mediaTokens),
    accountType: accountType === 'user' || accountType === 'group' ? accountType : null,
  };
}
