import { problemsOf, ServiceError } from '@model-gateway/contracts';
import type { z } from 'zod';

/** Parses a value with the schema; the error names the first invalid field. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = problemsOf(parsed.error);
  const first = issues[0] ?? { path: '', message: 'invalid value' };
  const field = first.path === '' ? 'the request body' : `'${first.path}'`;
  throw new ServiceError('missing_fields', `${field}: ${first.message}`, { details: { issues } });
}
