import { z } from 'zod';
import { ToolError } from '../errors.ts';
import type { Command } from './command.ts';

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

// A description of the element for humans, which is not used.
const DESCRIPTION = 'element';
const SHOWN_CHARS_MAX = 100;
const TYPES: Readonly<Record<string, string>> = {
  array: 'an array',
  int: 'an integer',
  object: 'an object',
  record: 'an object',
};

/** Parses the input of a caller by the schema of a command, under any accepted name; fails with `INVALID_ARGUMENT`. */
export function parseParams<Schema extends z.ZodObject>(
  command: Pick<Command, 'name' | 'aliases' | 'soleAliases'>,
  schema: Schema,
  given: unknown,
  style: ParamStyle,
): ParsedParams<z.output<Schema>> {
  const { name } = command;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const received = given === null ? 'null' : Array.isArray(given) ? 'array' : typeof given;
    throw invalidArgument(`The parameters of ${name} must be an object.`, {
      expected: 'object',
      received,
    });
  }
  const known = Object.keys(schema.shape);
  const shown = (field: string): string => (style.isSnake ? snakeCase(field) : field);
  const values = new Map<string, unknown>();
  // The name that the caller used for each.
  const givenNames = new Map<string, string>();
  // Null counts as missing.
  const entries = Object.entries(given).filter(([, value]) => (value ?? undefined) !== undefined);
  for (const [key, value] of entries) {
    const field = fieldOf(camelCase(key), known, command, entries.length === 1);
    // The schema's name takes precedence over aliases.
    if (values.has(field) && !known.includes(camelCase(key))) continue;
    values.set(field, value);
    givenNames.set(field, key);
  }
  const ignored = [...values.keys()].filter((key) => !known.includes(key) && key !== DESCRIPTION);
  const [unknown] = ignored;
  if (style.isStrict && unknown !== undefined) {
    const received = givenNames.get(unknown) ?? unknown;
    const allowed = known.map(shown);
    const listed = allowed.length === 0 ? 'none' : allowed.join(', ');
    throw invalidArgument(
      `${received} is not a parameter of ${name}; its parameters are ${listed}.`,
      { field: received, expected: `one of ${listed}`, received, allowed },
    );
  }
  const kept = Object.fromEntries([...values].filter(([key]) => known.includes(key)));
  const typed = style.isText ? fromText(kept, schema) : kept;
  const parsed = schema.safeParse(typed, { error: expectation });
  if (parsed.success) return { params: parsed.data, ignored };
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw invalidArgument(`The parameters of ${name} are not valid.`, {});
  throw fieldError(issue, kept, (field) => givenNames.get(field) ?? shown(field));
}

/** The name in the schema. Only own properties are aliases, because callers may use any name, such as `constructor`. */
function fieldOf(
  name: string,
  known: readonly string[],
  { aliases = {}, soleAliases = {} }: Pick<Command, 'aliases' | 'soleAliases'>,
  isSole: boolean,
): string {
  if (known.includes(name)) return name;
  const names = isSole ? { ...aliases, ...soleAliases } : aliases;
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
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

/** Names the invalid parameter as the caller wrote it, what is expected, and what was given. */
function fieldError(
  issue: z.core.$ZodIssue,
  given: Raw,
  nameOf: (field: string) => string,
): ToolError {
  const path: string[] = [];
  let value: unknown = given;
  for (const part of issue.path) {
    // A list may have been given as one string.
    if (value !== undefined && (typeof value !== 'object' || value === null)) break;
    value = value?.[part as keyof typeof value];
    path.push(path.length === 0 ? nameOf(String(part)) : String(part));
  }
  const field = path.join('.');
  const { message: expected } = issue;
  const isMissing = value === undefined;
  const received = isMissing ? 'nothing' : shownValue(value);
  return invalidArgument(
    isMissing
      ? `${field} is required: ${expected}.`
      : `${field} must be ${expected}, not ${received}.`,
    {
      field,
      expected,
      received,
      ...(issue.code === 'invalid_value' ? { allowed: issue.values } : {}),
    },
  );
}

function shownValue(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length <= SHOWN_CHARS_MAX ? json : `${json.slice(0, SHOWN_CHARS_MAX)}…`;
}

/** What a schema expects, in words. A schema's own message takes precedence. */
function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? `a ${issue.expected}`;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      if (issue.origin === 'string') return 'a non-empty string';
      if (issue.origin === 'array') return `a list of at least ${issue.minimum}`;
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `at most ${issue.maximum} characters`;
      return `${issue.origin === 'array' ? 'a list of ' : ''}at most ${issue.maximum}`;
    case 'invalid_union':
      return 'a boolean or a string';
    default:
      return undefined;
  }
}

function invalidArgument(message: string, details: Raw): ToolError {
  return new ToolError('INVALID_ARGUMENT', message, {
    hint: 'Correct it and call again.',
    details,
  });
}

const camelCase = (text: string): string =>
  text.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());

const snakeCase = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
