import { asList, asNumber, asObject, isObject, type JsonObject } from '../wire/json.ts';
import { isFormat } from './formats.ts';
import { charge, isSame, typesOf, type Budget, type ResolveSchema } from './plain-schema.ts';

/** Whether a value satisfies a schema. */
export type CheckSchema = (schema: unknown, value: unknown) => boolean;

/**
 * Checks the keywords that the generator knows. A `pattern` is not run, because a regular expression of a client can block the
 * process: every text satisfies it here.
 */
export function createSchemaCheck(resolve: ResolveSchema, budget: Budget): CheckSchema {
  function check(given: unknown, value: unknown): boolean {
    if (budget.steps < 0 || given === true) return true;
    if (given === false) return false;
    const schema = resolve(given);
    charge(budget, asList(schema.enum).length + asList(schema.required).length);
    return (
      isAllowedValue(schema, value) &&
      isAllowedNumber(schema, value) &&
      isAllowedText(schema, value) &&
      isAllowedList(schema, value) &&
      isAllowedObject(schema, value) &&
      satisfiesBranches(schema, value)
    );
  }

  function isAllowedList(schema: JsonObject, value: unknown): boolean {
    if (!Array.isArray(value)) return true;
    const list: readonly unknown[] = value;
    const first = prefixOf(schema);
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    const needed = asNumber(schema.minContains) ?? 1;
    return (
      list.length >= (asNumber(schema.minItems) ?? 0) &&
      list.length <= (asNumber(schema.maxItems) ?? Infinity) &&
      list.every((item, index) =>
        check(index < first.length ? first[index] : (rest ?? true), item),
      ) &&
      (schema.uniqueItems !== true || areDifferent(list)) &&
      (schema.contains === undefined ||
        list.filter((item) => check(schema.contains, item)).length >= needed)
    );
  }

  function isAllowedObject(schema: JsonObject, value: unknown): boolean {
    if (!isObject(value)) return true;
    const names = Object.keys(value);
    const properties = asObject(schema.properties);
    const others = schema.patternProperties === undefined ? schema.additionalProperties : true;
    return (
      names.length >= (asNumber(schema.minProperties) ?? 0) &&
      names.length <= (asNumber(schema.maxProperties) ?? Infinity) &&
      hasAll(value, schema.required) &&
      Object.entries(asObject(schema.dependentRequired)).every(
        ([name, needed]) => !Object.hasOwn(value, name) || hasAll(value, needed),
      ) &&
      names.every((name) =>
        check(Object.hasOwn(properties, name) ? properties[name] : (others ?? true), value[name]),
      )
    );
  }

  function satisfiesBranches(schema: JsonObject, value: unknown): boolean {
    const { anyOf, oneOf, not, if: condition } = schema;
    if (anyOf !== undefined && !asList(anyOf).some((branch) => check(branch, value))) return false;
    if (oneOf !== undefined && asList(oneOf).filter((branch) => check(branch, value)).length !== 1)
      return false;
    if (not !== undefined && check(not, value)) return false;
    if (condition === undefined) return true;
    return check((check(condition, value) ? schema.then : schema.else) ?? true, value);
  }

  return check;
}

/** The schemas of the first elements of a list; older drafts have them in `items`. */
export const prefixOf = (schema: JsonObject): readonly unknown[] =>
  Array.isArray(schema.items) ? schema.items : asList(schema.prefixItems);

/** The JSON type of a value; whole numbers are integers. */
function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (Number.isInteger(value)) return 'integer';
  return typeof value;
}

function isAllowedValue(schema: JsonObject, value: unknown): boolean {
  if (Object.hasOwn(schema, 'const') && !isSame(schema.const, value)) return false;
  if (schema.enum !== undefined && !asList(schema.enum).some((item) => isSame(item, value)))
    return false;
  if (schema.type === undefined) return true;
  const [types, type] = [typesOf(schema.type), typeOf(value)];
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

function isAllowedNumber(schema: JsonObject, value: unknown): boolean {
  if (typeof value !== 'number') return true;
  return (
    value >= (asNumber(schema.minimum) ?? -Infinity) &&
    value <= (asNumber(schema.maximum) ?? Infinity) &&
    value > (asNumber(schema.exclusiveMinimum) ?? -Infinity) &&
    value < (asNumber(schema.exclusiveMaximum) ?? Infinity) &&
    (schema.multipleOf === undefined || Number.isInteger(value / Number(schema.multipleOf)))
  );
}

function isAllowedText(schema: JsonObject, value: unknown): boolean {
  if (typeof value !== 'string') return true;
  // Characters of two units count once.
  const length = Array.from(value).length;
  return (
    length >= (asNumber(schema.minLength) ?? 0) &&
    length <= (asNumber(schema.maxLength) ?? Infinity) &&
    isFormat(schema.format, value)
  );
}

const hasAll = (value: JsonObject, names: unknown): boolean =>
  asList(names).every((name) => typeof name !== 'string' || Object.hasOwn(value, name));

const areDifferent = (list: readonly unknown[]): boolean =>
  new Set(list.map((item) => JSON.stringify(item))).size === list.length;
