/** An id of an item that the gateway made contains that of its response. */
const MADE = /^[a-z]+_([0-9a-f]{32})(?:i?\d+|u.+)$/;
const INPUT = /^[a-z]+_[0-9a-f]{32}i\d+$/;
/** The id of an upstream inside of one that the gateway made. */
const PASSED = /^([a-z]+)_[0-9a-f]{32}u(.+)$/;
const UPSTREAM = /^([a-z]+)_(.+)$/;

/**
 * The id of an upstream's item with that of its response, so that the stored item can be found by it. It can be reversed,
 * because an upstream accepts a thought only under the id that it gave.
 */
export function itemIdIn(responseId: string, upstreamId: string): string {
  const [, prefix, rest] = UPSTREAM.exec(upstreamId) ?? [];
  if (prefix === undefined || rest === undefined) return upstreamId;
  return `${prefix}_${responseId.replace('resp_', '')}u${rest}`;
}

/** The id as the upstream gave it; undefined if the gateway made all of it. */
export function upstreamItemId(id: string): string | undefined {
  const [, prefix, rest] = PASSED.exec(id) ?? [];
  if (prefix !== undefined && rest !== undefined) return `${prefix}_${rest}`;
  return MADE.test(id) ? undefined : id;
}

/** The response that has an item, by the item's id; undefined if the gateway did not make the id. */
export function responseOfItem(itemId: string): string | undefined {
  const made = MADE.exec(itemId)?.[1];
  return made === undefined ? undefined : `resp_${made}`;
}

/** Whether an id that the gateway made is that of an item of the request, and not of the answer. */
export const isInputItem = (itemId: string): boolean => INPUT.test(itemId);
