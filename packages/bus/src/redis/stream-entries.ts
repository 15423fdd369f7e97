import type { JournalEntry } from '@model-gateway/kernel';

/** What a consumer holds: the entry, or undefined when it is not there any more or was not written by us. */
export interface StreamEntry {
  readonly streamId: string;
  readonly entry: JournalEntry | undefined;
}

/** Reads the `[[id, [field, value, …]], …]` of Redis. */
export function parseStreamEntries(items: unknown): readonly StreamEntry[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) => {
    if (!Array.isArray(item)) return [];
    const [streamId, fields]: unknown[] = item;
    return typeof streamId === 'string' ? [{ streamId, entry: toEntry(fields) }] : [];
  });
}

/** Reads the answer to XREADGROUP on one stream; nothing came when it is null. */
export function parseReadAnswer(answer: unknown): readonly StreamEntry[] {
  const [first]: unknown[] = Array.isArray(answer) ? answer : [];
  return Array.isArray(first) ? parseStreamEntries(first[1]) : [];
}

/** Reads the answer to XAUTOCLAIM: where to go on, and what was taken over. */
export function parseClaimAnswer(answer: unknown): {
  readonly cursor: string;
  readonly entries: readonly StreamEntry[];
} {
  const [cursor, items]: unknown[] = Array.isArray(answer) ? answer : [];
  return {
    cursor: typeof cursor === 'string' ? cursor : '0-0',
    entries: parseStreamEntries(items),
  };
}

/** The consumers in an answer to XINFO CONSUMERS, each a flat list of names and values. */
export function parseConsumers(
  answer: unknown,
): readonly { readonly name: string; readonly pending: number; readonly idleMs: number }[] {
  if (!Array.isArray(answer)) return [];
  return answer.flatMap((consumer: unknown) => {
    const fields = toMap(consumer);
    const name = fields.get('name');
    if (typeof name !== 'string') return [];
    const [pending, idleMs] = [Number(fields.get('pending')), Number(fields.get('idle'))];
    return [{ name, pending, idleMs }];
  });
}

function toEntry(fields: unknown): JournalEntry | undefined {
  const map = toMap(fields);
  const [id, body] = [map.get('id'), map.get('body')];
  return typeof id === 'string' && typeof body === 'string' ? { id, body } : undefined;
}

function toMap(flat: unknown): ReadonlyMap<unknown, unknown> {
  const map = new Map<unknown, unknown>();
  if (!Array.isArray(flat)) return map;
  for (let at = 0; at + 1 < flat.length; at += 2) map.set(flat[at], flat[at + 1]);
  return map;
}
