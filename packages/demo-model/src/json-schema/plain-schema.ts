import { asList, asNumber, asObject, asText, isObject, type JsonObject } from '../wire/json.ts';

/** The work that one request may cause: clients write the schemas. */
export interface Budget {
  steps: number;
}

/** Charges the reading of a number of names or values. */
export function charge(budget: Budget, count: number): void {
  budget.steps -= 1 + Math.floor(count / COUNT_PER_STEP);
}

/** Charges the writing, comparing or copying of so many characters or entries, which is nothing for a few. */
export function chargeSize(budget: Budget, size: number): void {
  budget.steps -= Math.floor(size / COUNT_PER_STEP);
}

const COUNT_PER_STEP = 50;

/** How much there is to copy or compare: the characters of a text, or of the JSON of anything else. */
export const sizeOf = (value: unknown): number =>
  typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0);

/** Resolves a schema to one object without `$ref` and `allOf`. */
export type ResolveSchema = (schema: unknown) => JsonObject;

const REFERENCE_STEPS_MAX = 32;

/** References are looked up in the whole schema; one that is not found allows every value. */
export function createSchemaResolver(root: unknown, budget: Budget): ResolveSchema {
  function resolve(schema: unknown, steps = 0): JsonObject {
    if (!isObject(schema)) return schema === false ? { not: {} } : {};
    if (budget.steps < 0) return {};
    charge(budget, entriesOf(schema));
    const { $ref: reference, allOf, ...rest } = schema;
    const target = asText(reference);
    chargeSize(budget, target?.length ?? 0);
    if (budget.steps < 0) return {};
    if (steps >= REFERENCE_STEPS_MAX || (target === undefined && allOf === undefined)) return rest;
    const parts = target === undefined ? [] : [lookUp(root, target)];
    return [...parts, ...asList(allOf)].reduce<JsonObject>(
      (merged, part) => mergeSchemas(merged, resolve(part, steps + 1), budget),
      rest,
    );
  }
  return (schema) => resolve(schema);
}

/** The keywords of a schema, with the entries of its lists. */
const entriesOf = (schema: JsonObject): number =>
  Object.values(schema).reduce<number>(
    (sum, value) => sum + (Array.isArray(value) ? value.length : 1),
    0,
  );

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

/** One schema that allows what both allow, as far as their keywords can be combined, and as the budget allows it. */
export function mergeSchemas(left: JsonObject, right: JsonObject, budget: Budget): JsonObject {
  if (budget.steps < 0) return left;
  const merged: Record<string, unknown> = { ...left };
  chargeSize(budget, Object.keys(left).length);
  for (const [keyword, value] of Object.entries(right)) {
    const isInBoth = Object.hasOwn(left, keyword);
    if (isInBoth) chargeSize(budget, costOf(keyword, left[keyword]) + costOf(keyword, value));
    if (budget.steps < 0) break;
    merged[keyword] = isInBoth ? combine(keyword, left[keyword], value) : value;
  }
  return merged;
}

/** Copying a property takes as long as comparing so many characters. */
const PROPERTY_SIZE = 10;

/** What is copied or compared when two schemas have the same keyword. */
function costOf(keyword: string, value: unknown): number {
  if (keyword === 'enum') return sizeOf(value);
  if (keyword === 'properties') return PROPERTY_SIZE * Object.keys(asObject(value)).length;
  return asList(value).length;
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
  const allowed = new Set(other);
  const common = one.filter((type) => allowed.has(type));
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
