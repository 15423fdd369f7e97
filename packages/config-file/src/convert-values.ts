import type { JsonSchema } from './config-json-schema.ts';
import { SubstitutedText, type Path, type PlacedProblem } from './yaml-tree.ts';

/** Values of a file in the types that its schema wants. */
export interface ConvertedValues {
  readonly value: unknown;
  readonly problems: readonly PlacedProblem[];
}

/** Turns values of the environment into numbers where numbers are expected, and finds fields that do not exist. */
export function convertValues(given: unknown, schema: JsonSchema): ConvertedValues {
  const problems: PlacedProblem[] = [];

  function convertValue(value: unknown, rules: readonly JsonSchema[], path: Path): unknown {
    if (value instanceof SubstitutedText) return convertText(value.text, typesOf(rules));
    if (Array.isArray(value)) {
      const items = rules.flatMap((rule) => alternatives(rule.items));
      return value.map((item: unknown, index) => convertValue(item, items, [...path, index]));
    }
    return isObject(value) ? convertFields(value, rules, path) : value;
  }

  function convertFields(
    value: Readonly<Record<string, unknown>>,
    rules: readonly JsonSchema[],
    path: Path,
  ): unknown {
    const known = rules.flatMap(({ properties }) => (properties === undefined ? [] : [properties]));
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => {
        const fields = known.flatMap((properties) =>
          Object.hasOwn(properties, name) ? alternatives(properties[name]) : [],
        );
        if (known.length > 0 && fields.length === 0)
          problems.push({ path: [...path, name], message: unknownField(known) });
        return [name, convertValue(field, fields, [...path, name])];
      }),
    );
  }

  return { value: convertValue(given, [schema], []), problems };
}

const unknownField = (known: readonly Readonly<Record<string, JsonSchema>>[]): string =>
  `is unknown here; known are ${known.flatMap((properties) => Object.keys(properties)).join(', ')}`;

function alternatives(schema: JsonSchema | undefined): readonly JsonSchema[] {
  if (schema === undefined) return [];
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternatives);
}

const typesOf = (rules: readonly JsonSchema[]): ReadonlySet<string | undefined> =>
  new Set(rules.map(({ type }) => type));

/** A text that is not a number stays a text, which the schema then refuses. */
function convertText(text: string, types: ReadonlySet<string | undefined>): unknown {
  if (types.has('string')) return text;
  const isNumber = text.trim() !== '' && Number.isFinite(Number(text));
  if ((types.has('number') || types.has('integer')) && isNumber) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('null') && text === 'null') return null;
  return text;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
