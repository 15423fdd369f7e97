import { z } from 'zod';
import { PROBLEMS_MAX } from './bounded-array.ts';
import { infinityIn, infinityIssue, isRefusedValue } from './counts.ts';
import { ServiceError } from './errors.ts';
import { problemText } from './problem-text.ts';

/** What is wrong with one field of a request. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The path can contain field names of the request, which can be as long as the request. */
const TEXT_CHARS_MAX = 200;

/** The problems that a refusal reports: the first ones, with bounded texts. */
function problemsOf(error: z.ZodError): readonly Problem[] {
  return error.issues.slice(0, PROBLEMS_MAX).map((issue) => ({
    path: clipped(issue.path.map((part) => clipped(String(part))).join('.')),
    message: clipped(problemText(issue)),
  }));
}

type ParsedRequest<Data> =
  | { readonly success: true; readonly data: Data; readonly error?: undefined }
  | { readonly success: false; readonly error: z.ZodError };

/** Parses what a client sent, in which every number must be finite. */
export function parsedRequest<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): ParsedRequest<z.output<Schema>> {
  const infinity = infinityIn(value);
  if (infinity === undefined) return schema.safeParse(value);
  return { success: false, error: new z.ZodError([infinityIssue(infinity)]) };
}

interface RefusalWords {
  /** Before the name of the field. */
  readonly prefix: string;
  /** Where the problem is no field. */
  readonly whole: string;
}

/** The refusal of a request, which names its first invalid field. */
export function refusalOf(error: z.ZodError, { prefix, whole }: RefusalWords): ServiceError {
  const issues = problemsOf(error);
  const { path, message } = issues[0] ?? { path: '', message: 'invalid value' };
  const text = `${prefix}${path === '' ? whole : `'${path}'`}: ${message}`;
  return isRefusedValue(error.issues[0])
    ? new ServiceError('invalid_value', text, { details: { issues, param: path } })
    : new ServiceError('missing_fields', text, { details: { issues } });
}

/** The refusal of a param that fits its schema, and that a rule of the method refuses. */
export function invalidParam(path: string, message: string, cause?: unknown): ServiceError {
  return new ServiceError('missing_fields', `Invalid params: '${path}': ${message}`, {
    details: { issues: [{ path, message }] },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A text that is shortened if it is longer than a sentence. */
export function clipped(text: string, charsMax = TEXT_CHARS_MAX): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`;
}
