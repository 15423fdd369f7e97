import { ServiceError } from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { Item } from '@model-gateway/dialects';
import { z } from 'zod';

const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;

const querySchema = z.object({
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
  order: z.enum(['asc', 'desc']).optional(),
});

/** One page of items, the newest first unless the query says otherwise. */
export function itemPage(items: readonly Item[], query: unknown): Item {
  const { after, limit = PAGE_DEFAULT, order = 'desc' } = validated(querySchema, query);
  const ordered = order === 'asc' ? items : items.toReversed();
  const start = after === undefined ? 0 : placeOf(after, ordered) + 1;
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: start + data.length < ordered.length,
  };
}

function placeOf(after: string, items: readonly Item[]): number {
  const place = items.findIndex(({ id }) => id === after);
  if (place !== -1) return place;
  throw new ServiceError('missing_fields', `'after': the response has no item with this id`);
}
