const GATHER_MS_MIN = 50;
const GATHER_MS_MAX = 1_000;
const GATHER_MS_PER_ENTRY = 5;

/**
 * How long a journal collects entries before it delivers the next batch, by the size of the last one. Recording a batch costs about
 * as much as several hundred entries more in it, so that batches grow with the load: from 200 entries a second on, they have those
 * of a second.
 */
export const gatherMs = (lastEntries: number): number =>
  Math.min(GATHER_MS_MAX, Math.max(GATHER_MS_MIN, lastEntries * GATHER_MS_PER_ENTRY));
