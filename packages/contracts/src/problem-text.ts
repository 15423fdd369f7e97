import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** The texts of zod; a schema that has a text of its own keeps it. */
const TEXT_OF_LIBRARY = /^(?:Invalid |Too (?:small|big): |Unrecognized key)/;

/** What is wrong with a value, in the words of the reference. */
export function problemText(issue: Issue): string {
  const { message } = issue;
  return TEXT_OF_LIBRARY.test(message) ? (plainText(issue) ?? message) : message;
}

function plainText(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.expected, /received (\w+)$/.exec(issue.message)?.[1]);
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'too_small':
      return bound('at least', issue);
    case 'too_big':
      return bound('at most', issue);
    case 'invalid_format':
      return FORMATS[issue.format];
    case 'unrecognized_keys':
      return `has fields that do not exist: ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return `must be ${wantedBy(issue.errors) ?? 'in one of the forms of the reference'}`;
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  null: 'null',
};

function wrongType(expected: string, received: string | undefined): string {
  const wanted = TYPES[expected] ?? expected;
  if (received === 'undefined') return `required: ${wanted}`;
  if (received === undefined || (expected === 'int' && received === 'number'))
    return `must be ${wanted}`;
  return `must be ${wanted}, not ${received === 'boolean' ? 'a boolean' : (TYPES[received] ?? received)}`;
}

/** The types of a union none of which fits; undefined if a part of the value is wrong. */
function wantedBy(errors: readonly (readonly Issue[])[]): string | undefined {
  const types = errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? TYPES[first.expected] : undefined,
  );
  return types.includes(undefined) ? undefined : [...new Set(types)].join(' or ');
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  email: 'must be an email address',
  url: 'must be a URL',
  datetime: 'must be a time such as 2026-01-31T00:00:00Z',
};

const UNITS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  array: ['entry', 'entries'],
  string: ['character', 'characters'],
};

type Bound = Extract<Issue, { code: 'too_small' | 'too_big' }>;

function bound(words: 'at least' | 'at most', issue: Bound): string {
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const unit = UNITS[issue.origin];
  if (unit !== undefined) return `must have ${words} ${limit} ${limit === 1 ? unit[0] : unit[1]}`;
  if (issue.inclusive === true) return `must be ${words} ${limit}`;
  return `must be ${words === 'at least' ? 'more' : 'less'} than ${limit}`;
}
