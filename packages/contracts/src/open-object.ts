import { z } from 'zod';

/*
 * Objects with fields that the service does not know. zod visits and copies every such field, which takes microseconds
 * for each, and a request can have many thousands. These objects pass as they are instead.
 */

type AnyObject = z.ZodRecord<z.ZodString, z.ZodUnknown>;

/** An object with any fields. */
export const anyObject = (): AnyObject => passAllFields(z.record(z.string(), z.unknown()));

/** Lets an object pass without a visit to its fields. Call it last: a method of the schema returns a copy without this. */
export function passAllFields(schema: AnyObject): AnyObject {
  const { parse, run } = schema._zod;
  const hasChecks = parse !== run;
  schema._zod.parse = (payload, context) =>
    z.core.util.isPlainObject(payload.value) ? payload : parse(payload, context);
  if (!hasChecks) schema._zod.run = schema._zod.parse;
  return schema;
}

/**
 * Lets an object pass if the fields of its shape are valid, which must not be transformed. Call it last: a method of the
 * schema returns a copy without this.
 */
export function passFurtherFields<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape, z.core.$loose>,
): z.ZodObject<Shape, z.core.$loose> {
  const known = z.object(schema.shape);
  const { parse, run } = schema._zod;
  const hasChecks = parse !== run;
  schema._zod.parse = (payload, context) => {
    const result = known._zod.run({ value: payload.value, issues: [] }, context);
    if (result instanceof Promise) throw new z.core.$ZodAsyncError();
    payload.issues.push(...result.issues);
    return payload;
  };
  if (!hasChecks) schema._zod.run = schema._zod.parse;
  return schema;
}
