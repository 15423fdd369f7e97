import { z } from 'zod';

type Payload = z.core.ParsePayload;
type Context = z.core.ParseContextInternal;
type Parsed = Payload | Promise<Payload>;

/**
 * Replaces how a schema parses values, in place; its type, its checks and its description stay. Call it last: the
 * methods of a schema return copies that parse as before.
 */
export function replaceParse(
  schema: z.ZodType,
  replacement: (payload: Payload, context: Context, original: () => Parsed) => Parsed,
): void {
  const internals = schema._zod;
  const original = internals.parse.bind(internals);
  const parse = (payload: Payload, context: Context): Parsed =>
    replacement(payload, context, () => original(payload, context));
  internals.parse = parse;
  // Without checks, zod calls the parser directly.
  if ((internals.def.checks ?? []).length === 0) internals.run = parse;
}

/** Parses a part of a value; no schema of a request is asynchronous. */
export function parsePart(schema: z.ZodType, value: unknown, context: Context): Payload {
  const result = schema._zod.run({ value, issues: [] }, context);
  if (result instanceof Promise) throw new z.core.$ZodAsyncError();
  return result;
}
