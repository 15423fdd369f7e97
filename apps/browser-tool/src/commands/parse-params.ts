import { z } from 'zod';
import { ToolError } from '../tool-error.ts';
import type { Command } from './command.ts';

/** How a face writes parameters. */
export interface ParamStyle {
  /** HTTP writes `timeout_ms` and MCP `timeoutMs`; both are read everywhere. */
  readonly isSnake: boolean;
  /** Whether a parameter that does not exist is refused rather than ignored. */
  readonly isStrict: boolean;
  /** Whether everything comes as text, as in a query string. */
  readonly isText: boolean;
}

export interface ParsedParams<Params> {
  readonly params: Params;
  /** What was given and is no parameter. */
  readonly ignored: readonly string[];
}

type Raw = Readonly<Record<string, unknown>>;

// A person's words for an element; they say nothing to us.
const DESCRIPTION = 'element';

/** Reads what a caller gave by the schema of a command, whatever names it used; fails with `INVALID_ARGUMENT`. */
export function parseParams<Schema extends z.ZodObject>(
  { name, aliases = {}, soleAliases = {} }: Pick<Command, 'name' | 'aliases' | 'soleAliases'>,
  schema: Schema,
  given: unknown,
  style: ParamStyle,
): ParsedParams<z.output<Schema>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(`The parameters of ${name} must be an object.`, {
      expected: 'object',
      received: kindOf(given),
    });
  }
  const known = Object.keys(schema.shape);
  const named = canonical(given as Raw, known, { ...aliases }, soleAliases);
  const ignored = Object.keys(named).filter((key) => !known.includes(key) && key !== DESCRIPTION);
  if (style.isStrict && ignored.length > 0)
    throw unknownField(name, ignored[0] ?? '', known, style);
  const kept = Object.fromEntries(Object.entries(named).filter(([key]) => known.includes(key)));
  const parsed = schema.safeParse(style.isText ? fromText(kept, schema) : kept);
  if (parsed.success) return { params: parsed.data, ignored };
  const [issue] = parsed.error.issues;
  throw issue === undefined
    ? invalid(`The parameters of ${name} are not valid.`, {})
    : fieldError(issue, kept, style);
}

/** Brings every name to the one that the schema has; a parameter that is null counts as left out. */
function canonical(
  given: Raw,
  known: readonly string[],
  aliases: Readonly<Record<string, string>>,
  soleAliases: Readonly<Record<string, string>>,
): Raw {
  const entries = Object.entries(given).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  const named: Record<string, unknown> = {};
  for (const [key, value] of entries) {
    const camel = camelCase(key);
    const sole = entries.length === 1 ? soleAliases[camel] : undefined;
    const name = known.includes(camel) ? camel : (sole ?? aliases[camel] ?? camel);
    // What is given under its own name wins over other names for it.
    if (!(name in named) || known.includes(camel)) named[name] = value;
  }
  return named;
}

/** Makes numbers and truth values of texts where the schema wants such. */
function fromText(given: Raw, schema: z.ZodObject): Raw {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      const property = properties[key];
      const type = typeof property === 'object' ? String(property.type) : undefined;
      return [key, typeof value === 'string' ? valueOf(value, type) : value];
    }),
  );
}

function valueOf(text: string, type: string | undefined): unknown {
  if (type === 'boolean') {
    if (['true', '1', 'yes', ''].includes(text)) return true;
    return ['false', '0', 'no'].includes(text) ? false : text;
  }
  const isNumber = (type === 'integer' || type === 'number') && text.trim() !== '';
  return isNumber && Number.isFinite(Number(text)) ? Number(text) : text;
}

function fieldError(issue: z.core.$ZodIssue, given: Raw, style: ParamStyle): ToolError {
  const path = issue.path.map((part) =>
    typeof part === 'string' ? shownName(part, style) : String(part),
  );
  const field = path.join('.');
  const value = issue.path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null ? inner[part as keyof typeof inner] : undefined,
    given,
  );
  const received = value === undefined ? 'nothing' : JSON.stringify(value)?.slice(0, 100);
  const expected = expectedBy(issue);
  const allowed = issue.code === 'invalid_value' ? issue.values : undefined;
  const message =
    value === undefined
      ? `${field} is required: ${expected}.`
      : `${field} must be ${expected}, not ${received}.`;
  return invalid(message, {
    field,
    expected,
    received,
    ...(allowed === undefined ? {} : { allowed }),
  });
}

function expectedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int'
        ? 'an integer'
        : `${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `at most ${issue.maximum} characters`
        : `at most ${issue.maximum}`;
    case 'invalid_union':
      return 'a boolean or a string';
    default:
      return issue.message;
  }
}

function unknownField(
  name: string,
  field: string,
  known: readonly string[],
  style: ParamStyle,
): ToolError {
  const allowed = known.map((each) => shownName(each, style));
  const listed = allowed.length === 0 ? 'none' : allowed.join(', ');
  return invalid(`${field} is no parameter of ${name}; it takes ${listed}.`, {
    field,
    expected: `one of ${listed}`,
    received: field,
    allowed,
  });
}

function invalid(message: string, details: Readonly<Record<string, unknown>>): ToolError {
  return new ToolError('INVALID_ARGUMENT', message, {
    hint: 'Correct it and call again.',
    details,
  });
}

const camelCase = (text: string): string =>
  text.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());

const snakeCase = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const shownName = (name: string, { isSnake }: ParamStyle): string =>
  isSnake ? snakeCase(name) : name;

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
