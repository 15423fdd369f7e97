import { z } from 'zod';

/** One entry of an upstream's models listing. */
export interface ListedModel {
  readonly id: string;
  readonly contextLength: number | undefined;
}

const named = z.union([
  z.string(),
  z.object({ id: z.string() }).transform(({ id }) => id),
  z.object({ name: z.string() }).transform(({ name }) => name),
]);
const tokens = z.int().positive();
/** Servers have no common name for it. */
const CONTEXT_FIELDS = ['context_length', 'max_model_len', 'context_window', 'max_context_length'];

/** Another gateway lists models that nobody serves yet. */
const suggested = z.object({ status: z.literal('suggested') });

/** Reads an entry; undefined when it names no model, or one that cannot be asked. */
export function readListedModel(entry: unknown): ListedModel | undefined {
  if (suggested.safeParse(entry).success) return undefined;
  const id = named.safeParse(entry);
  return id.success ? { id: id.data, contextLength: contextLengthOf(entry) } : undefined;
}

function contextLengthOf(entry: unknown): number | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(entry));
  for (const name of CONTEXT_FIELDS) {
    const value = tokens.safeParse(fields.get(name));
    if (value.success) return value.data;
  }
  return undefined;
}
