import { z } from 'zod';
import { parsePart, replaceParse } from './replace-parse.ts';

/*
 * Objects with fields that the service does not know. zod visits and copies every such field, which takes microseconds
 * for each, and a request can have many thousands. These objects pass as they are instead.
 */

/** More fields than any API has; what happens to a request later takes time for each. */
const FIELDS_MAX = 1_000;

type AnyObject = z.ZodRecord<z.ZodString, z.ZodUnknown>;

/** An object with any fields. */
export const anyObject = (): AnyObject => passAllFields(z.record(z.string(), z.unknown()));

/** Lets an object pass without a visit to its fields. Call it last, see `replaceParse`. */
export function passAllFields(schema: AnyObject): AnyObject {
  replaceParse(schema, (payload, _context, original) => {
    if (hasTooManyFields(payload.value)) payload.issues.push(tooManyFields(schema, payload.value));
    else if (!z.core.util.isPlainObject(payload.value)) return original();
    return payload;
  });
  return schema;
}

/**
 * Lets an object pass if the fields of its shape are valid, and `further` ones that the reference does not list; none may be
 * transformed. Call it last, see `replaceParse`.
 */
export function passFurtherFields<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape, z.core.$loose>,
  further: z.ZodRawShape = {},
): z.ZodObject<Shape, z.core.$loose> {
  const known = z.object({ ...further, ...schema.shape });
  replaceParse(schema, (payload, context) => {
    if (hasTooManyFields(payload.value)) payload.issues.push(tooManyFields(schema, payload.value));
    else payload.issues.push(...parsePart(known, payload.value, context).issues);
    return payload;
  });
  return schema;
}

/** Any value; if it is an object, its fields are counted. */
export const anyValue = () =>
  z.unknown().refine((value) => !hasTooManyFields(value), TOO_MANY_FIELDS);

const TOO_MANY_FIELDS = `must have at most ${FIELDS_MAX} fields`;

const hasTooManyFields = (value: unknown): boolean =>
  z.core.util.isPlainObject(value) && Object.keys(value).length > FIELDS_MAX;

const tooManyFields = (inst: z.ZodType, input: unknown): z.core.$ZodRawIssue => ({
  code: 'custom',
  message: TOO_MANY_FIELDS,
  input,
  inst,
});
