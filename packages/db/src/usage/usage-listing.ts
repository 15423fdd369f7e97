import type { UsagePage, UsageRecord, UsageStore } from '@model-gateway/billing';
import { priceRecord } from '@model-gateway/contracts';
import type { Queries } from '../connection/connection.ts';
import type { UsageRecord as UsageRow } from '../generated/client.ts';

// What an earlier or later version wrote may have another form.
const priceSchema = priceRecord.nullable().catch(null);

type ListQuery = Parameters<UsageStore['list']>[0];

/** A page of a user's rows. The total is read from the totals, however many rows there are. */
export async function listUsage(queries: Queries, query: ListQuery): Promise<UsagePage> {
  const { userId, project, limit, offset } = query;
  // The totals store requests without a key under this name; no key has it.
  if (project === '') return { records: [], total: 0 };
  const ofProject = project === undefined ? {} : { project };
  const [rows, totals] = await Promise.all([
    queries.usageRecord.findMany({
      where: { userId, ...ofProject, ...(project === undefined ? {} : { keyId: { not: null } }) },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
      take: limit,
      skip: offset,
    }),
    queries.usageTotal.aggregate({
      where: { userId, ...ofProject },
      _sum: { requests: true },
    }),
  ]);
  return { records: rows.map(toRecord), total: Number(totals._sum.requests ?? 0) };
}

function toRecord(row: UsageRow): UsageRecord {
  const { accountType, price, ...record } = row;
  return {
    ...record,
    price: priceSchema.parse(price),
    accountType: accountType === 'user' || accountType === 'group' ? accountType : null,
  };
}
