import { asList, asNumber, asObject, asText, isObject, type JsonObject } from '../wire/json.ts';
import {
  charge,
  createSchemaResolver,
  mergeSchemas,
  typesOf,
  type Budget,
} from './plain-schema.ts';
import { createSchemaCheck, prefixOf } from './schema-check.ts';
import { numberForSchema } from './schema-number.ts';
import { textForSchema } from './schema-text.ts';

/** Values that may be taken instead of examples, such as those that a message contains. */
export interface ValueHints {
  /** Values for a property, best first; one that the schema does not allow is skipped. */
  find(name: string, schema: JsonObject): readonly unknown[];
  /** Whether the source names the property itself, so that it is filled although it is not required. */
  isNamed(name: string, schema: JsonObject): boolean;
  /** Called with the value that was taken, so that the next property gets another one. */
  onTaken(value: unknown): void;
}

interface SchemaValueOptions {
  readonly hints?: ValueHints;
  /** Whether properties that are not required are generated without a hint too; no by default. */
  readonly withOptional?: boolean;
}

/** The value to generate: its schema, the name of its property, and its place. */
interface SchemaRequest {
  readonly schema: JsonObject;
  readonly name: string;
  readonly depth: number;
  /** The position in a list, so that its elements differ. */
  readonly variant: number;
}

/** What a schema from a client may cost: about ten milliseconds. */
const STEPS_MAX = 10_000;
const DEPTH_MAX = 40;
/** Below this depth only what is required is generated. */
const RICH_DEPTH_MAX = 4;
const ITEMS_MAX = 1_000;

/** A value that satisfies a JSON schema, always the same one; a schema that is too large gets a value that may not. */
export function schemaValue(root: unknown, options: SchemaValueOptions = {}): unknown {
  const { hints, withOptional = false } = options;
  const budget: Budget = { steps: STEPS_MAX };
  const resolve = createSchemaResolver(root, budget);
  const check = createSchemaCheck(resolve, budget);

  function generate(given: unknown, place: Omit<SchemaRequest, 'schema'>): unknown {
    if (budget.steps < 0 || place.depth > DEPTH_MAX) return null;
    const request = { ...place, schema: resolve(given) };
    const hinted = hintFor(request);
    if (hinted !== undefined) return hinted;
    if (Object.hasOwn(request.schema, 'const')) return request.schema.const;
    let first: { readonly value: unknown } | undefined;
    for (const value of candidates(request)) {
      if (check(request.schema, value)) return value;
      first ??= { value };
      if (budget.steps < 0) break;
    }
    return first?.value ?? null;
  }

  function hintFor({ schema, name, variant }: SchemaRequest): unknown {
    if (hints === undefined || variant > 0 || schema.pattern !== undefined) return undefined;
    const found = hints.find(name, schema).find((value) => check(schema, value));
    if (found !== undefined) hints.onTaken(found);
    return found;
  }

  /** Values that probably satisfy the schema, the most useful one first. */
  function* candidates(request: SchemaRequest): Generator {
    const { schema, variant } = request;
    if (schema.enum !== undefined) {
      const values = asList(schema.enum);
      yield values[variant % values.length];
      yield* values;
      return;
    }
    const branch = ['anyOf', 'oneOf'].find((keyword) => Array.isArray(schema[keyword]));
    if (branch !== undefined) {
      yield* branchCandidates(request, branch);
      return;
    }
    if (schema.if !== undefined) {
      const { if: condition, then: positive, else: negative, ...rest } = schema;
      for (const more of [[], [condition, positive], [negative]]) {
        yield* candidates({
          ...request,
          schema: resolve({ allOf: [rest, ...more.filter(isObject)] }),
        });
      }
      return;
    }
    for (const type of typeOrder(schema, request.depth)) yield ofType(type, request);
    if (schema.not !== undefined) yield* ['other', 0, 0.5, 2, true, false, null, [], {}];
  }

  function* branchCandidates(request: SchemaRequest, keyword: string): Generator {
    const { [keyword]: branches, ...rest } = request.schema;
    const resolved = asList(branches).map((branch) => resolve(branch));
    const inOrder = resolved.toSorted((left, right) => cost(left, request) - cost(right, request));
    for (const branch of inOrder) {
      const others = inOrder.filter((other) => other !== branch);
      const isOnly = keyword === 'anyOf' || others.length === 0;
      const schema = mergeSchemas(rest, branch);
      yield generate(isOnly ? schema : mergeSchemas(schema, { not: { anyOf: others } }), request);
    }
  }

  function ofType(type: string, request: SchemaRequest): unknown {
    const { schema, variant } = request;
    switch (type) {
      case 'object':
        return objectFor(request);
      case 'array':
        return listFor(request);
      case 'number':
      case 'integer':
        return numberForSchema(schema, type === 'integer', variant);
      case 'boolean':
        return variant % 2 === 0;
      case 'null':
        return null;
      default:
        return textForSchema(schema, variant);
    }
  }

  function objectFor({ schema, depth }: SchemaRequest): unknown {
    const properties = asObject(schema.properties);
    const known = Object.keys(properties);
    const required = new Set(namesIn(schema.required));
    charge(budget, known.length + required.size);
    const value = new Map<string, unknown>();
    const add = (name: string): void => {
      if (!value.has(name) && budget.steps >= 0)
        value.set(name, generate(propertyOf(schema, name), { name, depth: depth + 1, variant: 0 }));
    };
    // In the order of the schema, as a reader expects it.
    for (const name of known) if (required.has(name)) add(name);
    for (const name of required) add(name);
    const least = Math.min(asNumber(schema.minProperties) ?? 0, ITEMS_MAX);
    const most = asNumber(schema.maxProperties) ?? Infinity;
    const isRich = withOptional && depth < RICH_DEPTH_MAX && !hasConditions(schema);
    for (const name of known) {
      if (value.size >= most || budget.steps < 0) break;
      const isWished = isRich || value.size < least || isNamed(name, properties[name]);
      if (isWished && properties[name] !== false) add(name);
    }
    for (const [name, needed] of Object.entries(asObject(schema.dependentRequired)))
      if (value.has(name)) for (const other of namesIn(needed)) add(other);
    for (let index = 1; value.size < least && budget.steps >= 0; index += 1)
      add(`property${index}`);
    return Object.fromEntries(value);
  }

  function isNamed(name: string, given: unknown): boolean {
    return hints !== undefined && hints.isNamed(name, resolve(given));
  }

  function listFor({ schema, name, depth }: SchemaRequest): readonly unknown[] {
    const prefix = prefixOf(schema);
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    const wish = depth < RICH_DEPTH_MAX && rest !== undefined && rest !== false ? 1 : 0;
    const contained = schema.contains === undefined ? 0 : (asNumber(schema.minContains) ?? 1);
    const least = Math.max(asNumber(schema.minItems) ?? 0, contained, prefix.length || wish);
    const count = Math.min(least, asNumber(schema.maxItems) ?? Infinity, ITEMS_MAX);
    const list: unknown[] = [];
    for (let index = 0; index < count && budget.steps >= 0; index += 1) {
      const own = index < prefix.length ? prefix[index] : (rest ?? {});
      const item = index < contained ? { allOf: [own, schema.contains] } : own;
      list.push(generate(item, { name, depth: depth + 1, variant: index }));
    }
    return list;
  }

  return generate(root, { name: '', depth: 0, variant: 0 });
}

const namesIn = (value: unknown): readonly string[] =>
  asList(value).flatMap((name) => asText(name) ?? []);

function propertyOf(schema: JsonObject, name: string): unknown {
  const properties = asObject(schema.properties);
  if (Object.hasOwn(properties, name)) return properties[name];
  return isObject(schema.additionalProperties) ? schema.additionalProperties : {};
}

/** An optional property could break a condition on the whole object. */
const hasConditions = (schema: JsonObject): boolean =>
  ['not', 'if', 'anyOf', 'oneOf', 'dependentRequired', 'dependentSchemas', 'propertyNames'].some(
    (keyword) => schema[keyword] !== undefined,
  );

const ALL_TYPES = ['string', 'integer', 'boolean', 'object', 'array', 'null'];
const TYPE_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'patternProperties'],
  array: ['items', 'prefixItems', 'minItems', 'contains', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};

/** The types that a schema allows or suggests; null comes last, but first where the value is nested deeply. */
function typeOrder(schema: JsonObject, depth: number): readonly string[] {
  const types = typesOf(schema.type);
  if (types.length === 0) {
    const suggested = Object.entries(TYPE_KEYWORDS).find(([, keywords]) =>
      keywords.some((keyword) => schema[keyword] !== undefined),
    )?.[0];
    return suggested === undefined ? ALL_TYPES : [suggested, ...ALL_TYPES];
  }
  const isDeep = depth > RICH_DEPTH_MAX;
  return types.toSorted(
    (left, right) => (Number(left === 'null') - Number(right === 'null')) * (isDeep ? -1 : 1),
  );
}

/** Branches in their order, null last; where the value is nested deeply, the one that ends first. */
function cost(branch: JsonObject, { depth }: SchemaRequest): number {
  const isNull = typesOf(branch.type).includes('null') || branch.const === null;
  if (depth <= RICH_DEPTH_MAX) return isNull ? 1 : 0;
  if (isNull) return 0;
  const isNested = ['properties', 'items', 'anyOf', 'oneOf'].some(
    (keyword) => branch[keyword] !== undefined,
  );
  return isNested ? 2 : 1;
}
