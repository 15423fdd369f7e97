import type { z } from 'zod';
import { ToolError } from '../errors.ts';

interface Names {
  readonly isSnake: boolean;
}

const SHOWN_CHARS_MAX = 100;

/** Names the invalid parameter as the caller wrote it, what is expected, and what was given. */
export function fieldError(
  issue: z.core.$ZodIssue,
  given: Readonly<Record<string, unknown>>,
  givenNames: ReadonlyMap<string, string>,
  style: Names,
): ToolError {
  const { path, value } = located(issue.path, given);
  const field = path
    .map((part, index) => (index === 0 ? (givenNames.get(part) ?? shownName(part, style)) : part))
    .join('.');
  const received = value === undefined ? 'nothing' : shownValue(value);
  const expected = expectedBy(issue);
  const allowed = issue.code === 'invalid_value' ? issue.values : undefined;
  const message =
    value === undefined
      ? `${field} is required: ${expected}.`
      : `${field} must be ${expected}, not ${received}.`;
  return invalidArgument(message, {
    field,
    expected,
    received,
    ...(allowed === undefined ? {} : { allowed }),
  });
}

/** Rejects an unknown parameter and lists the known ones. */
export function unknownField(
  name: string,
  field: string,
  known: readonly string[],
  style: Names,
): ToolError {
  const allowed = known.map((each) => shownName(each, style));
  const listed = allowed.length === 0 ? 'none' : allowed.join(', ');
  return invalidArgument(`${field} is not a parameter of ${name}; its parameters are ${listed}.`, {
    field,
    expected: `one of ${listed}`,
    received: field,
    allowed,
  });
}

/** An invalid argument of a call. */
export function invalidArgument(
  message: string,
  details: Readonly<Record<string, unknown>>,
): ToolError {
  return new ToolError('INVALID_ARGUMENT', message, {
    hint: 'Correct it and call again.',
    details,
  });
}

/** The part of the caller's input that an issue is about; a list may have been given as one string. */
function located(
  path: readonly PropertyKey[],
  given: Readonly<Record<string, unknown>>,
): { readonly path: readonly string[]; readonly value: unknown } {
  const walked: string[] = [];
  let value: unknown = given;
  for (const part of path) {
    if (value !== undefined && (typeof value !== 'object' || value === null)) break;
    value = value?.[part as keyof typeof value];
    walked.push(String(part));
  }
  return { path: walked, value };
}

function shownValue(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length <= SHOWN_CHARS_MAX ? json : `${json.slice(0, SHOWN_CHARS_MAX)}…`;
}

function expectedBy(issue: z.core.$ZodIssue): string {
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
      return issue.message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'an array',
  int: 'an integer',
  object: 'an object',
  record: 'an object',
};

const shownName = (name: string, { isSnake }: Names): string =>
  isSnake ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name;
