import { ServiceError } from '@model-gateway/contracts';
import type { Item } from '@model-gateway/dialects';
import { createJsonMeter, JSON_COST_MAX } from '@model-gateway/kernel';

// Empty values are small, and each takes time and memory: what a request continues or names has no more of them than a body may
// have.

/** What parsing a text costs. */
export function costOf(text: string): number {
  const meter = createJsonMeter();
  meter.add(Buffer.from(text));
  return meter.cost;
}

/** Refuses stored items that cost more than a body may. */
export function assertFewValues(cost: number): void {
  if (cost <= JSON_COST_MAX) return;
  throw new ServiceError(
    'context_too_large',
    'the stored items that the request continues or names have more values than a request may have; name fewer of them',
  );
}

/** The same for referenced items, which count as often as they are named. */
export function assertFewValuesNamed(
  references: readonly string[],
  referenced: ReadonlyMap<string, Item>,
): void {
  const costs = new Map<string, number>();
  let cost = 0;
  for (const id of references) {
    const ofItem = costs.get(id) ?? costOf(JSON.stringify(referenced.get(id) ?? null));
    costs.set(id, ofItem);
    cost += ofItem;
    assertFewValues(cost);
  }
}
