import { numberOf } from '@model-gateway/kernel';
import { z } from 'zod';
import { keepWritten } from './written-numbers.ts';
import { replaceParse } from './replace-parse.ts';

/*
 * The counts of a request. Reservations are made of them, so each is a whole number within a range on every surface, also
 * where it only passes to the upstream.
 */

const REFUSED = 'refused value';

const refusedValue = (message: string) => ({
  code: 'custom' as const,
  message,
  params: { reason: REFUSED },
});

/** The most tokens, results or dimensions that a request can name. */
export const COUNT_MAX = 2 ** 31 - 1;
/** The most choices that a request can ask for. */
const CHOICES_MAX = 128;
/** What servers on one's own machine take for no limit. */
export const NO_LIMIT = -1;

/** How many tokens. */
export const tokenCount = wholeNumber(0, COUNT_MAX);
/** How many tokens at most, or that there is no limit. */
export const tokenLimit = wholeNumber(
  NO_LIMIT,
  COUNT_MAX,
  `a whole number from 0 to ${COUNT_MAX}, or ${NO_LIMIT} for no limit`,
);
/** How many answers to one prompt. */
export const choiceCount = wholeNumber(1, CHOICES_MAX);
/** How many results, or how long each is. */
export const resultCount = wholeNumber(0, COUNT_MAX);

/** The names by which upstreams know the maximum of generated tokens. */
const TOKEN_FIELDS = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_tokens_to_sample',
  'max_gen_len',
  'maxOutputTokens',
  'maxTokens',
  'num_predict',
  'n_predict',
] as const;

/** The names by which upstreams know how many choices they generate. */
const CHOICE_FIELDS = [
  'n',
  'best_of',
  'num_return_sequences',
  'candidate_count',
  'candidateCount',
] as const;

const LIMIT_FIELDS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens']);

type CountFields = Readonly<Record<string, z.ZodType>>;

const counts: CountFields = {
  ...Object.fromEntries(
    TOKEN_FIELDS.map((name) => [
      name,
      (LIMIT_FIELDS.has(name) ? tokenLimit : tokenCount).nullish(),
    ]),
  ),
  ...Object.fromEntries(CHOICE_FIELDS.map((name) => [name, choiceCount.nullish()])),
};

/** Checks the counts of `extra`, where it is an object. */
export const checkCounts = checkFields(counts);

/** The options of Ollama, where -1 is no limit and -2 fills the context. */
const checkOptions = checkFields({ ...counts, num_predict: wholeNumber(-2, COUNT_MAX).nullish() });

const realtimeLimit = z
  .union([z.literal('inf'), tokenCount], {
    error: `must be a whole number from 0 to ${COUNT_MAX}, or "inf"`,
  })
  .nullish();

/** Checks the counts of a realtime session or response. */
export const checkRealtimeCounts = checkFields({
  max_output_tokens: realtimeLimit,
  max_response_output_tokens: realtimeLimit,
});

/** Every count that an upstream may know, for bodies whose other fields pass through. */
export const countFields: CountFields = {
  ...counts,
  options: z.unknown().check(checkOptions).optional(),
};

function checkFields(fields: CountFields): z.core.CheckFn<unknown> {
  const schema = z.object(fields);
  return ({ value, issues }) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const found = schema.safeParse(value).error?.issues ?? [];
    for (const { path, message } of found)
      issues.push({ ...refusedValue(message), path: [...path], input: value });
  };
}

/** The most tokens that one of these objects names; undefined if they name none. */
export const namedTokens = (...objects: readonly unknown[]): number | undefined =>
  largestNamed(TOKEN_FIELDS, objects);

/** The most choices that one of these objects names, 1 if they name none. */
export const namedChoices = (...objects: readonly unknown[]): number =>
  largestNamed(CHOICE_FIELDS, objects) ?? 1;

function largestNamed(names: readonly string[], objects: readonly unknown[]): number | undefined {
  let largest = 0;
  for (const object of objects) {
    if (typeof object !== 'object' || object === null) continue;
    for (const name of names) {
      const count = numberOf(Reflect.get(object, name));
      if (count !== undefined && Number.isSafeInteger(count) && count > largest) largest = count;
    }
  }
  return largest === 0 ? undefined : largest;
}

/** The path of the first number that no double can hold, such as `1e999`. */
export function infinityIn(value: unknown): readonly (string | number)[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  const written = numberOf(value);
  if (written !== undefined) return Number.isFinite(written) ? undefined : [];
  if (Array.isArray(value)) {
    const elements: readonly unknown[] = value;
    for (let at = 0; at < elements.length; at += 1) {
      const path = infinityIn(elements[at]);
      if (path !== undefined) return [at, ...path];
    }
    return undefined;
  }
  for (const name of Object.keys(value)) {
    const path = infinityIn(Reflect.get(value, name));
    if (path !== undefined) return [name, ...path];
  }
  return undefined;
}

/** Whether an issue is about a value that is out of range, and not about a missing field. */
export const isRefusedValue = (issue: z.core.$ZodIssue | undefined): boolean =>
  issue?.code === 'custom' && issue.params?.['reason'] === REFUSED;

/** A whole number within a range. */
function wholeNumber(min: number, max: number, words = `a whole number from ${min} to ${max}`) {
  const schema = z.int().min(min).max(max);
  replaceParse(schema, (payload) => {
    const { value } = payload;
    const isValid = typeof value === 'number' && Number.isInteger(value);
    if (!isValid || value < min || value > max)
      payload.issues.push({ ...refusedValue(`must be ${words}`), input: value, inst: schema });
    return payload;
  });
  return keepWritten(schema);
}

/** The refusal of a number that no double can hold. */
export const infinityIssue = (path: readonly (string | number)[]): z.core.$ZodIssue => ({
  ...refusedValue('must be a finite number'),
  path: [...path],
  input: Infinity,
});
