import { z } from 'zod';
import type { Command } from './command.ts';
import { fieldError, invalidArgument, unknownField } from './field-error.ts';

/** How an interface passes parameters. */
export interface ParamStyle {
  /** HTTP uses `timeout_ms` and MCP `timeoutMs`; both are accepted everywhere. */
  readonly isSnake: boolean;
  /** Whether an unknown parameter is an error instead of ignored. */
  readonly isStrict: boolean;
  /** Whether all values are strings, as in a query string. */
  readonly isText: boolean;
}

export interface ParsedParams<Params> {
  readonly params: Params;
  /** The names of unknown parameters. */
  readonly ignored: readonly string[];
}

type Raw = Readonly<Record<string, unknown>>;
type Names = Readonly<Record<string, string>>;

// A description of the element for humans, which is not used.
const DESCRIPTION = 'element';

/** Parses the input of a caller by the schema of a command, under any accepted name; fails with `INVALID_ARGUMENT`. */
export function parseParams<Schema extends z.ZodObject>(
  { name, aliases = {}, soleAliases = {} }: Pick<Command, 'name' | 'aliases' | 'soleAliases'>,
  schema: Schema,
  given: unknown,
  style: ParamStyle,
): ParsedParams<z.output<Schema>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidArgument(`The parameters of ${name} must be an object.`, {
      expected: 'object',
      received: kindOf(given),
    });
  }
  const known = Object.keys(schema.shape);
  const { values, givenNames } = canonical(given as Raw, known, aliases, soleAliases);
  const ignored = Object.keys(values).filter((key) => !known.includes(key) && key !== DESCRIPTION);
  if (style.isStrict && ignored.length > 0)
    throw unknownField(name, givenNames.get(ignored[0] ?? '') ?? '', known, style);
  const kept = Object.fromEntries(Object.entries(values).filter(([key]) => known.includes(key)));
  const parsed = schema.safeParse(style.isText ? fromText(kept, schema) : kept);
  if (parsed.success) return { params: parsed.data, ignored };
  const [issue] = parsed.error.issues;
  throw issue === undefined
    ? invalidArgument(`The parameters of ${name} are not valid.`, {})
    : fieldError(issue, kept, givenNames, style);
}

interface Canonical {
  /** By the names of the schema. */
  readonly values: Raw;
  /** The name that the caller used for each. */
  readonly givenNames: ReadonlyMap<string, string>;
}

/** Maps every name to the one of the schema; null counts as missing. */
function canonical(
  given: Raw,
  known: readonly string[],
  aliases: Names,
  soleAliases: Names,
): Canonical {
  const entries = Object.entries(given).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  const values = new Map<string, unknown>();
  const givenNames = new Map<string, string>();
  for (const [key, value] of entries) {
    const camel = camelCase(key);
    const sole = entries.length === 1 ? own(soleAliases, camel) : undefined;
    const name = known.includes(camel) ? camel : (sole ?? own(aliases, camel) ?? camel);
    // The schema's name takes precedence over aliases.
    if (values.has(name) && !known.includes(camel)) continue;
    values.set(name, value);
    givenNames.set(name, key);
  }
  return { values: Object.fromEntries(values), givenNames };
}

/** Only own properties, because callers may use any name, such as `constructor`. */
function own(names: Names, name: string): string | undefined {
  return Object.hasOwn(names, name) ? names[name] : undefined;
}

/** Converts strings to numbers and booleans as the schema requires; `?limit=` counts as missing. */
function fromText(given: Raw, schema: z.ZodObject): Raw {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const typed = Object.entries(given).map(([key, value]) => {
    const property = properties[key];
    const type = typeof property === 'object' ? String(property.type) : undefined;
    return [key, typeof value === 'string' ? valueOf(value, type) : value] as const;
  });
  return Object.fromEntries(typed.filter(([, value]) => value !== ''));
}

function valueOf(text: string, type: string | undefined): unknown {
  if (type === 'boolean') {
    if (['true', '1', 'yes', ''].includes(text)) return true;
    return ['false', '0', 'no'].includes(text) ? false : text;
  }
  const isNumber = (type === 'integer' || type === 'number') && text.trim() !== '';
  return isNumber && Number.isFinite(Number(text)) ? Number(text) : text;
}

const camelCase = (text: string): string =>
  text.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
