import { asList, asNumber, asObject, asText, isObject, type JsonObject } from '../wire/json.ts';

/** The work that one request may cause: clients write the schemas. */
export interface Budget {
  steps: number;
}

/** Charges the reading of a number of names or values. */
export function charge(budget: Budget, count: number): void {
  budget.steps -= 1 + Math.floor(count / COUNT_PER_STEP);
}

const COUNT_PER_STEP = 50;

/** Resolves a schema to one object without `$ref` and `allOf`. */
export type ResolveSchema = (schema: unknown) => JsonObject;

const REFERENCE_STEPS_MAX = 32;

/** References are looked up in the whole schema; one that is not found allows every value. */
export function createSchemaResolver(root: unknown, budget: Budget): ResolveSchema {
  function resolve(schema: unknown, steps = 0): JsonObject {
    if (!isObject(schema)) return schema === false ? { not: {} } : {};
    charge(budget, Object.keys(schema).length);
    if (budget.steps < 0) return {};
    const { $ref: reference, allOf, ...rest } = schema;
    const target = asText(reference);
    if (steps >= REFERENCE_STEPS_MAX || (target === undefined && allOf === undefined)) return rest;
    const parts = target === undefined ? [] : [lookUp(root, target)];
    return [...parts, ...asList(allOf)].reduce<JsonObject>(
      (merged, part) => mergeSchemas(merged, resolve(part, steps + 1)),
      rest,
    );
  }
  return (schema) => resolve(schema);
}

function lookUp(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return {};
  return reference
    .slice(1)
    .split('/')
    .slice(1)
    .reduce((place: unknown, part) => {
      const name = decodePart(part).replaceAll('~1', '/').replaceAll('~0', '~');
      if (Array.isArray(place)) return place[Number(name)] as unknown;
      return isObject(place) && Object.hasOwn(place, name) ? place[name] : {};
    }, root);
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const LARGER_WINS: readonly string[] = [
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
];
const SMALLER_WINS: readonly string[] = [
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
];

/** One schema that allows what both allow, as far as their keywords can be combined. */
export function mergeSchemas(left: JsonObject, right: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...left };
  for (const [keyword, value] of Object.entries(right))
    merged[keyword] = Object.hasOwn(left, keyword) ? combine(keyword, left[keyword], value) : value;
  return merged;
}

function combine(keyword: string, left: unknown, right: unknown): unknown {
  if (LARGER_WINS.includes(keyword))
    return Math.max(asNumber(left) ?? -Infinity, asNumber(right) ?? -Infinity);
  if (SMALLER_WINS.includes(keyword))
    return Math.min(asNumber(left) ?? Infinity, asNumber(right) ?? Infinity);
  switch (keyword) {
    case 'required':
      return [...new Set([...asList(left), ...asList(right)])];
    case 'type':
      return commonTypes(left, right);
    case 'enum':
      return commonValues(asList(left), asList(right));
    case 'properties':
      return mergeProperties(asObject(left), asObject(right));
    case 'not':
      return { anyOf: [left, right] };
    case 'items':
      return { allOf: [left, right] };
    case 'additionalProperties':
      return left === false || right === false ? false : { allOf: [left, right] };
    default:
      return right;
  }
}

function commonValues(left: readonly unknown[], right: readonly unknown[]): readonly unknown[] {
  const texts = new Set(right.map((value) => JSON.stringify(value)));
  return left.filter((value) => texts.has(JSON.stringify(value)));
}

function mergeProperties(left: JsonObject, right: JsonObject): JsonObject {
  const both = Object.entries(right).map(([name, schema]) => [
    name,
    Object.hasOwn(left, name) ? { allOf: [left[name], schema] } : schema,
  ]);
  return Object.fromEntries([...Object.entries(left), ...both]) as JsonObject;
}

function commonTypes(left: unknown, right: unknown): unknown {
  const [one, other] = [typesOf(left), typesOf(right)];
  const common = one.filter((type) => other.includes(type));
  const isNarrower =
    (one.includes('integer') && other.includes('number')) ||
    (one.includes('number') && other.includes('integer'));
  return isNarrower && !common.includes('integer') ? [...common, 'integer'] : common;
}

/** The types that a `type` keyword names. */
export const typesOf = (type: unknown): readonly string[] =>
  typeof type === 'string' ? [type] : asList(type).flatMap((name) => asText(name) ?? []);

/** Whether two JSON values are equal; the order of properties does not matter. */
export function isSame(left: unknown, right: unknown): boolean {
  if (Array.isArray(left))
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((value, index) => isSame(value, right[index]))
    );
  if (!isObject(left) || !isObject(right)) return left === right;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]))
  );
}
