import { WrittenNumber } from '@model-gateway/kernel';
import type { z } from 'zod';

/**
 * Lets a schema of numbers take a `WrittenNumber` by its value and leave it as it is, because it is passed on. Where such a
 * number is read and not only compared, `numberOf` reads it. Call it last, see `replaceParse`.
 */
export const keepWritten = <Schema extends z.ZodType>(schema: Schema): Schema =>
  takeWritten(schema, true);

/** The same for a number that the service itself reads: it becomes a plain one. */
export const readWritten = <Schema extends z.ZodType>(schema: Schema): Schema =>
  takeWritten(schema, false);

function takeWritten<Schema extends z.ZodType>(schema: Schema, isKept: boolean): Schema {
  const internals = schema._zod;
  const run = internals.run.bind(internals);
  internals.run = (payload, context) => {
    const value: unknown = payload.value;
    if (!(value instanceof WrittenNumber)) return run(payload, context);
    payload.value = value.valueOf();
    const result = run(payload, context);
    if (isKept) payload.value = value;
    return result;
  };
  return schema;
}
