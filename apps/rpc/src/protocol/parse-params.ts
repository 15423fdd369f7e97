import { problemsOf, ServiceError } from '@model-gateway/contracts';
import type { z } from 'zod';

/** Parses the params. Null for a field that does not allow it means omitted, because many clients send it so. */
export function parseParams<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const again = schema.safeParse(withoutRefusedNulls(params, parsed.error));
  if (again.success) return again.data;
  throw invalidParams(again.error);
}

function withoutRefusedNulls(params: unknown, error: z.ZodError): unknown {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return params;
  const refused = new Set(error.issues.map(({ path }) => path[0]));
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => value !== null || !refused.has(name)),
  );
}

function invalidParams(error: z.ZodError): ServiceError {
  const issues = problemsOf(error);
  const first = issues[0] ?? { path: '', message: '' };
  const where = first.path === '' ? 'params' : `'${first.path}'`;
  return new ServiceError('missing_fields', `Invalid params: ${where}: ${first.message}`, {
    details: { issues },
  });
}
