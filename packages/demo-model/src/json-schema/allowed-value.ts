import { asList, asNumber, type JsonObject } from '../wire/json.ts';
import { isFormat } from './formats.ts';
import { isSame, typesOf } from './plain-schema.ts';

/** Whether a plain schema allows a text, a number, a boolean or a list of these. */
export function isAllowed(schema: JsonObject, value: unknown): boolean {
  if (schema.enum !== undefined && !asList(schema.enum).some((item) => isSame(item, value)))
    return false;
  if (schema.type !== undefined && !isOfType(typesOf(schema.type), value)) return false;
  if (typeof value === 'number') return isInRange(schema, value);
  if (typeof value === 'string')
    return isWithin(schema, 'Length', Array.from(value).length) && isFormat(schema.format, value);
  return !Array.isArray(value) || isWithin(schema, 'Items', value.length);
}

/** Whether a number is within the limits of a schema and a multiple of its step. */
export const isInRange = (schema: JsonObject, value: number): boolean =>
  value >= (asNumber(schema.minimum) ?? -Infinity) &&
  value <= (asNumber(schema.maximum) ?? Infinity) &&
  value > (asNumber(schema.exclusiveMinimum) ?? -Infinity) &&
  value < (asNumber(schema.exclusiveMaximum) ?? Infinity) &&
  (schema.multipleOf === undefined || Number.isInteger(value / Number(schema.multipleOf)));

const isWithin = (schema: JsonObject, what: 'Length' | 'Items', length: number): boolean =>
  length >= (asNumber(schema[`min${what}`]) ?? 0) &&
  length <= (asNumber(schema[`max${what}`]) ?? Infinity);

function isOfType(types: readonly string[], value: unknown): boolean {
  if (Array.isArray(value)) return types.includes('array');
  return types.includes(typeof value) || (types.includes('integer') && Number.isInteger(value));
}
