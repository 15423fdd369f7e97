import { parsedRequest, refusalOf } from '@model-gateway/contracts';
import type { z } from 'zod';

/** Parses a value with the schema; the error names the first invalid field. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = parsedRequest(schema, value);
  if (parsed.success) return parsed.data;
  throw refusalOf(parsed.error, { prefix: '', whole: 'the request body' });
}
