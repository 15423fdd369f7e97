import { asList, asNumber, asObject, asText, isObject, type JsonObject } from '../wire/json.ts';
import { isAllowed } from './allowed-value.ts';
import { exampleNumber, exampleText } from './examples.ts';
import { createSchemaReader, typesOf, type Budget } from './plain-schema.ts';

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

/** Where a value belongs: the name of its property, its depth, and its position in a list. */
interface Place {
  readonly name: string;
  readonly depth: number;
  readonly variant: number;
}

/** What a schema from a client may cost: about ten milliseconds. */
const STEPS_MAX = 10_000;
const DEPTH_MAX = 40;
/** Below this depth only what is required is generated. */
const RICH_DEPTH_MAX = 4;
const ITEMS_MAX = 1_000;

/**
 * A value for a JSON schema, always the same one: types, `enum`, `const`, lengths, ranges, formats, `$ref`, `anyOf`, `oneOf` and
 * `allOf`. Other keywords are ignored, and a schema that is too large gets a value that may not satisfy it.
 */
export function schemaValue(root: unknown, options: SchemaValueOptions = {}): unknown {
  const { hints, withOptional = false } = options;
  const budget: Budget = { steps: STEPS_MAX };
  const read = createSchemaReader(root, budget);

  function generate(given: unknown, place: Place): unknown {
    if (budget.steps < 0 || place.depth > DEPTH_MAX) return null;
    const isDeep = place.depth > RICH_DEPTH_MAX;
    const schema = read(given, isDeep);
    const hinted = hintFor(schema, place);
    if (hinted !== undefined) return hinted;
    const values = asList(schema.enum);
    if (values.length > 0) return values[place.variant % values.length];
    switch (typeFor(schema, isDeep)) {
      case 'object':
        return objectFor(schema, place);
      case 'array':
        return listFor(schema, place);
      case 'number':
        return exampleNumber(schema, false, place.variant);
      case 'integer':
        return exampleNumber(schema, true, place.variant);
      case 'boolean':
        return place.variant % 2 === 0;
      case 'null':
        return null;
      default:
        return exampleText(schema, place.variant);
    }
  }

  function hintFor(schema: JsonObject, { name, variant }: Place): unknown {
    if (hints === undefined || variant > 0 || schema.pattern !== undefined) return undefined;
    const found = hints.find(name, schema).find((value) => isAllowedHere(schema, value));
    if (found !== undefined) hints.onTaken(found);
    return found;
  }

  const isAllowedHere = (schema: JsonObject, value: unknown): boolean =>
    isAllowed(schema, value) &&
    asList(value).every((item) => isAllowed(read(schema.items, false), item));

  function objectFor(schema: JsonObject, { depth }: Place): unknown {
    const properties = asObject(schema.properties);
    const known = Object.keys(properties);
    const required = new Set(asList(schema.required).flatMap((name) => asText(name) ?? []));
    budget.steps -= known.length + required.size;
    const value = new Map<string, unknown>();
    const add = (name: string): void => {
      if (value.has(name) || budget.steps < 0) return;
      const own = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      value.set(name, generate(own, { name, depth: depth + 1, variant: 0 }));
    };
    // In the order of the schema, as a reader expects it.
    for (const name of [...known.filter((each) => required.has(each)), ...required]) add(name);
    const least = Math.min(asNumber(schema.minProperties) ?? 0, ITEMS_MAX);
    const most = asNumber(schema.maxProperties) ?? Infinity;
    // A property more could satisfy another branch too.
    const isRich = withOptional && depth < RICH_DEPTH_MAX && schema.oneOf === undefined;
    for (const name of known) {
      if (value.size >= most || budget.steps < 0) break;
      const isWished = isRich || value.size < least || isNamed(name, properties[name]);
      if (isWished && properties[name] !== false) add(name);
    }
    for (let index = 1; value.size < least && budget.steps >= 0; index += 1)
      add(`property${index}`);
    return Object.fromEntries(value);
  }

  const isNamed = (name: string, given: unknown): boolean =>
    hints !== undefined && hints.isNamed(name, read(given, false));

  function listFor(schema: JsonObject, { name, depth }: Place): readonly unknown[] {
    // Older drafts have the first elements in `items`.
    const isOld = Array.isArray(schema.items);
    const first = isOld ? asList(schema.items) : asList(schema.prefixItems);
    const rest = isOld ? schema.additionalItems : schema.items;
    const wish = depth < RICH_DEPTH_MAX && isObject(rest) ? 1 : 0;
    const least = Math.max(asNumber(schema.minItems) ?? 0, first.length || wish);
    const count = Math.min(least, asNumber(schema.maxItems) ?? Infinity, ITEMS_MAX);
    const list: unknown[] = [];
    for (let index = 0; index < count && budget.steps >= 0; index += 1) {
      const item = index < first.length ? first[index] : rest;
      list.push(generate(item, { name, depth: depth + 1, variant: index }));
    }
    return list;
  }

  return generate(root, { name: '', depth: 0, variant: 0 });
}

const SUGGESTIONS: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties'],
  array: ['items', 'prefixItems', 'minItems'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};

/** The type that a schema allows or suggests; null only where it has to be, or where the value is nested deeply. */
function typeFor(schema: JsonObject, isDeep: boolean): string | undefined {
  const types = typesOf(schema.type);
  if (isDeep && types.includes('null')) return 'null';
  if (types.length > 0) return types.find((type) => type !== 'null') ?? 'null';
  return Object.entries(SUGGESTIONS).find(([, keywords]) =>
    keywords.some((keyword) => schema[keyword] !== undefined),
  )?.[0];
}
