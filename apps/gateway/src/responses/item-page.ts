import { ServiceError } from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import { responseOfItem, type Item } from '@model-gateway/dialects';
import { z } from 'zod';

const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;

/** The query of `GET /v1/responses/{id}/input_items`. */
export const itemPageQuerySchema = z.object({
  after: z.string().optional().describe('the id of the last item of the page before'),
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
  order: z.enum(['asc', 'desc']).optional(),
});

/** The items of one stored response, which are read when a page needs them. */
export interface ItemSource {
  readonly responseId: string;
  readonly bytes: number;
  readonly count: number;
  read(): Promise<readonly Item[]>;
}

/**
 * One page of the items of several responses, the newest first unless the query says otherwise. It reads only responses that
 * it touches, and ends early where these have more bytes than `bytesMax` together.
 */
export async function itemPage(
  oldestFirst: readonly ItemSource[],
  query: unknown,
  bytesMax: number,
): Promise<Item> {
  const { after, limit = PAGE_DEFAULT, order = 'desc' } = validated(itemPageQuerySchema, query);
  const sources = (order === 'asc' ? oldestFirst : oldestFirst.toReversed()).filter(
    ({ count }) => count > 0,
  );
  const data: Item[] = [];
  let isFound = after === undefined;
  let bytes = 0;
  let at = startOf(sources, after);
  for (; at < sources.length && data.length < limit; at += 1) {
    const source = sources[at];
    if (source === undefined) break;
    bytes += source.bytes;
    if (data.length > 0 && bytes > bytesMax) break;
    const read = await source.read();
    const items = order === 'asc' ? read : read.toReversed();
    const place = isFound ? -1 : items.findIndex(({ id }) => id === after);
    if (!isFound && place === -1) continue;
    isFound = true;
    const rest = items.slice(place + 1);
    data.push(...rest.slice(0, limit - data.length));
    if (data.length === limit && rest.at(-1) !== data.at(-1)) break;
  }
  if (!isFound) throw unknownItem();
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: at < sources.length,
  };
}

/** Where the response is that an item's id names. Ids that clients gave name none: these are looked for from the beginning. */
function startOf(sources: readonly ItemSource[], after: string | undefined): number {
  if (after === undefined) return 0;
  const responseId = responseOfItem(after);
  return Math.max(
    0,
    sources.findIndex((source) => source.responseId === responseId),
  );
}

const unknownItem = (): ServiceError =>
  new ServiceError('missing_fields', `'after': the response has no item with this id`);
