import { useEffect, useRef } from 'react';

/**
 * The keys of table rows. When most rows of a page are others, as after sorting thousands, each takes the key of the row that was
 * in its place: its elements get new texts instead of being made again, which takes much less time. Otherwise a row that stays
 * keeps its key, and the focus with it. Cells must keep no state of their own.
 */
export function useRowSlots(ids: readonly string[]): readonly number[] {
  const last = useRef<ReadonlyMap<string, number>>(NONE);
  const slots = slotsOf(ids, last.current);
  useEffect(() => {
    last.current = new Map(ids.map((id, place) => [id, slots[place] ?? place]));
  });
  return slots;
}

const NONE: ReadonlyMap<string, number> = new Map();

export function slotsOf(
  ids: readonly string[],
  last: ReadonlyMap<string, number>,
): readonly number[] {
  const staying = ids.filter((id) => last.has(id)).length;
  const areMostNew = staying * 2 < ids.length;
  const before = [...last.values()];
  let next = Math.max(-1, ...before);
  return ids.map((id, place) => {
    const slot = areMostNew ? before[place] : last.get(id);
    if (slot !== undefined) return slot;
    next += 1;
    return next;
  });
}
