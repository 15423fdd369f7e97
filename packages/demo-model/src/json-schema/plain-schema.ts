import { asList, asNumber, asObject, asText, isObject, type JsonObject } from '../wire/json.ts';

/** The work that one request may cause: clients write the schemas. */
export interface Budget {
  steps: number;
}

const KEYWORDS_PER_STEP = 50;
const REFERENCES_MAX = 32;

/**
 * Turns schemas into plain ones: references and `allOf` become a part of it, and so does one branch of `anyOf` and `oneOf`, the
 * first one that is not null. References are looked up in the whole schema; one that is not found allows every value.
 */
export function createSchemaReader(root: unknown, budget: Budget) {
  function read(given: unknown, isShort: boolean, references = 0): JsonObject {
    if (!isObject(given) || references > REFERENCES_MAX) return {};
    budget.steps -= 1 + Math.floor(Object.keys(given).length / KEYWORDS_PER_STEP);
    if (budget.steps < 0) return {};
    const { $ref: reference, allOf, anyOf, const: only, ...own } = given;
    const target = asText(reference);
    const parts = [
      ...(target === undefined ? [] : [lookUp(root, target)]),
      ...asList(allOf),
      ...branchOf(asList(anyOf), isShort),
      ...branchOf(asList(own.oneOf), isShort),
    ];
    const plain = only === undefined ? own : { ...own, enum: [only] };
    return parts.reduce<JsonObject>(
      (merged, part) => merge(merged, read(part, isShort, references + 1)),
      plain,
    );
  }
  return read;
}

/** The branch to take; where the value is nested deeply, the one that ends first. */
function branchOf(branches: readonly unknown[], isShort: boolean): readonly unknown[] {
  const costs = branches.map((branch): number => {
    const { type, const: only, ...others } = asObject(branch);
    if (type === 'null' || only === null) return isShort ? 0 : 2;
    const isNested = ['$ref', 'properties', 'items', 'anyOf'].some((name) => name in others);
    return isShort && isNested ? 2 : 1;
  });
  return branches.slice(costs.indexOf(Math.min(...costs))).slice(0, 1);
}

function lookUp(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return {};
  const names = reference.split('/').slice(1);
  return names.reduce((place: unknown, part) => {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(place)) return place[Number(name)] as unknown;
    return isObject(place) && Object.hasOwn(place, name) ? place[name] : {};
  }, root);
}

/** One schema that allows what both allow, as far as their keywords can be combined. */
function merge(left: JsonObject, right: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...left };
  for (const [keyword, value] of Object.entries(right))
    merged[keyword] = Object.hasOwn(left, keyword) ? both(keyword, left[keyword], value) : value;
  return merged;
}

function both(keyword: string, left: unknown, right: unknown): unknown {
  if (/^(?:exclusiveM|m)in/.test(keyword))
    return Math.max(asNumber(left) ?? -Infinity, asNumber(right) ?? -Infinity);
  if (/^(?:exclusiveM|m)ax/.test(keyword))
    return Math.min(asNumber(left) ?? Infinity, asNumber(right) ?? Infinity);
  switch (keyword) {
    case 'required':
      return [...new Set([...asList(left), ...asList(right)])];
    case 'type':
      return commonTypes(typesOf(left), typesOf(right));
    case 'enum':
      return asList(left).filter((value) => asList(right).some((other) => isSame(value, other)));
    case 'properties':
      return merge(asObject(left), allOfBoth(asObject(left), asObject(right)));
    case 'items':
      return { allOf: [left, right] };
    default:
      return right;
  }
}

const allOfBoth = (left: JsonObject, right: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(right).map(([name, schema]) => [
      name,
      Object.hasOwn(left, name) ? { allOf: [left[name], schema] } : schema,
    ]),
  );

function commonTypes(left: readonly string[], right: readonly string[]): readonly string[] {
  const allows = (types: readonly string[], type: string): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...left, ...right])].filter(
    (type) => allows(left, type) && allows(right, type),
  );
}

/** The types that a `type` keyword names. */
export const typesOf = (type: unknown): readonly string[] =>
  typeof type === 'string' ? [type] : asList(type).flatMap((name) => asText(name) ?? []);

/** Whether two JSON values are equal; the order of properties matters. */
export const isSame = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right);
