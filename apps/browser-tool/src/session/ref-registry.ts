/** A document that refs were issued for. */
export interface RefDocument {
  /** Differs for every loaded document of every frame. */
  readonly id: string;
  readonly url: string;
}

/**
 * The numbers of the element refs of a session. They only increase, also across pages and restarts of the browser, so that an old
 * ref may become stale but never refers to another element.
 */
export interface RefRegistry {
  /** The number of the next ref. */
  readonly next: number;
  /** Records that all numbers below `next` are used, the new ones for this document. */
  advance(next: number, document: RefDocument): void;
  /** Keeps numbers for a document that may still issue refs for an aborted call. */
  reserve(document: RefDocument): void;
  /** The document that a ref was issued for; undefined for one that was never issued. */
  find(number: number): RefDocument | undefined;
}

interface Range extends RefDocument {
  readonly from: number;
}

// Older ranges are forgotten; their refs are stale in any case.
const RANGES_MAX = 5_000;
const FORGOTTEN: RefDocument = { id: '', url: 'a page' };

// More than one call issues.
const RESERVED = 50_000;

/** Starts with `e1`. */
export function createRefRegistry(): RefRegistry {
  const ranges: Range[] = [];
  let next = 1;

  function advance(to: number, { id, url }: RefDocument): void {
    if (to <= next) return;
    if (ranges.at(-1)?.id !== id) ranges.push({ from: next, id, url });
    if (ranges.length > RANGES_MAX) ranges.shift();
    next = to;
  }

  return {
    get next() {
      return next;
    },
    advance,
    reserve: (document) => advance(next + RESERVED, document),
    find(number) {
      if (number < 1 || number >= next) return undefined;
      return ranges.findLast(({ from }) => from <= number) ?? FORGOTTEN;
    },
  };
}
