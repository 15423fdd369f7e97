import { parsedRequest, refusalOf } from '@model-gateway/contracts';
import type { z } from 'zod';

/** Parses the params. Null for a field that does not allow it means omitted, because many clients send it so. */
export function parseParams<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
): z.output<Schema> {
  const parsed = parsedRequest(schema, params);
  if (parsed.success) return parsed.data;
  const again = parsedRequest(schema, withoutRefusedNulls(params, parsed.error));
  if (again.success) return again.data;
  throw refusalOf(again.error, { prefix: 'Invalid params: ', whole: 'params' });
}

function withoutRefusedNulls(params: unknown, error: z.ZodError): unknown {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return params;
  const refused = new Set(error.issues.map(({ path }) => path[0]));
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => value !== null || !refused.has(name)),
  );
}
