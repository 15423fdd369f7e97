import type { JournalEntry } from '@model-gateway/kernel';
import { listOf } from './script.ts';

/** An entry of a consumer; undefined when it was deleted or has another format. */
export interface StreamEntry {
  readonly streamId: string;
  readonly entry: JournalEntry | undefined;
}

/** Parses the reply to XREADGROUP on one stream; null means no entries. */
export function parseReadAnswer(answer: unknown): readonly StreamEntry[] {
  const [first] = listOf(answer);
  return parseStreamEntries(listOf(first)[1]);
}

/** Parses the reply to XAUTOCLAIM: the next cursor and the claimed entries. */
export function parseClaimAnswer(answer: unknown): {
  readonly cursor: string;
  readonly entries: readonly StreamEntry[];
} {
  const [cursor, items] = listOf(answer);
  return {
    cursor: typeof cursor === 'string' ? cursor : '0-0',
    entries: parseStreamEntries(items),
  };
}

/** The consumers in a reply to XINFO CONSUMERS, each a flat list of names and values. */
export function parseConsumers(
  answer: unknown,
): readonly { readonly name: string; readonly pending: number; readonly idleMs: number }[] {
  return listOf(answer).flatMap((consumer) => {
    const fields = toMap(consumer);
    const name = fields.get('name');
    if (typeof name !== 'string') return [];
    const [pending, idleMs] = [Number(fields.get('pending')), Number(fields.get('idle'))];
    return [{ name, pending, idleMs }];
  });
}

/** Reads the `[[id, [field, value, …]], …]` of Redis; deleted entries are omitted. */
function parseStreamEntries(items: unknown): readonly StreamEntry[] {
  return listOf(items).flatMap((item) => {
    const [streamId, fields] = listOf(item);
    return typeof streamId === 'string' ? [{ streamId, entry: toEntry(fields) }] : [];
  });
}

function toEntry(fields: unknown): JournalEntry | undefined {
  const map = toMap(fields);
  const [id, body] = [map.get('id'), map.get('body')];
  return typeof id === 'string' && typeof body === 'string' ? { id, body } : undefined;
}

function toMap(flat: unknown): ReadonlyMap<unknown, unknown> {
  const fields = listOf(flat);
  const map = new Map<unknown, unknown>();
  for (let at = 0; at + 1 < fields.length; at += 2) map.set(fields[at], fields[at + 1]);
  return map;
}
