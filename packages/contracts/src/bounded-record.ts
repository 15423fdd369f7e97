import { z } from 'zod';
import { replaceParse } from './replace-parse.ts';

/** An object whose fields are counted before they are checked. */
export function boundedRecord<Key extends z.ZodString, Value extends z.ZodType>(
  key: Key,
  value: Value,
  max: number,
): z.ZodRecord<Key, Value> {
  const schema = z.record(key, value);
  replaceParse(schema, (payload, _context, original) => {
    const fields = payload.value;
    const isTooLarge = z.core.util.isPlainObject(fields) && Object.keys(fields).length > max;
    if (!isTooLarge) return original();
    payload.issues.push({
      code: 'custom',
      message: `must have at most ${max} fields`,
      input: fields,
      inst: schema,
    });
    return payload;
  });
  return schema;
}
