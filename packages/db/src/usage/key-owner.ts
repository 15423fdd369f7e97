import type { Queries } from '../connection/connection.ts';

/** The filter with the owner of its key: a key belongs to one user, and rows and kept lines have an index by user. */
export async function withOwner<
  Filter extends { readonly keyId?: string | undefined; readonly userId?: string | undefined },
>(queries: Queries, filter: Filter): Promise<Filter> {
  if (filter.keyId === undefined || filter.userId !== undefined) return filter;
  const key = await queries.apiKey.findUnique({
    where: { id: filter.keyId },
    select: { userId: true },
  });
  return { ...filter, userId: key?.userId };
}
