import { z } from 'zod';
import { startupError } from '../errors/startup-problems.ts';

/** The environment as a process sees it. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface SettingNotes {
  /** One sentence for the configuration reference. */
  readonly description: string;
  /** What the reference shows as the default if the value itself says too little. */
  readonly defaultText?: string;
  /** The value of a secret is never shown. */
  readonly secret?: boolean;
  /** Where an unset value comes from, if it is not the default. */
  readonly fallback?: 'file';
  /** What applies while it is not set, in words, if that is no value. */
  readonly whileUnset?: string;
  /** Must be set when NODE_ENV is `production`. */
  readonly requiredInProduction?: boolean;
  /** How many characters it must have when NODE_ENV is `production`. */
  readonly minLengthInProduction?: number;
}

/** One environment variable: its name, how its text is parsed, and its documentation. */
export interface Setting<Value = unknown> extends SettingNotes {
  readonly env: string;
  readonly schema: z.ZodType<Value, string | undefined>;
}

export type Settings = Readonly<Record<string, Setting>>;

/** The typed values that a group of settings parses into. */
export type ConfigOf<Group extends Settings> = {
  readonly [Name in keyof Group]: z.output<Group[Name]['schema']>;
};

/** Declares one environment variable. Each group of settings is next to the code that it configures. */
export function setting<Value>(
  env: string,
  schema: z.ZodType<Value, string | undefined>,
  notes: SettingNotes,
): Setting<Value> {
  const { data } = schema.safeParse(undefined);
  return { env, schema, ...(data === undefined ? {} : { defaultText: String(data) }), ...notes };
}

/** Reads every setting of a process at once; all problems are reported in one message. */
export function loadConfig<Group extends Settings>(
  settings: Group,
  environment: Environment,
): ConfigOf<Group> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(settings)) {
    const text = blankIsUnset(environment[entry.env]);
    const problem = problemInProduction(entry, text, environment);
    if (problem !== undefined) {
      problems.push(`${entry.env} ${problem} when NODE_ENV=production`);
      continue;
    }
    const parsed = entry.schema.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(describeProblem(entry, text, parsed.error));
  }
  if (problems.length > 0) {
    throw startupError('invalid_configuration', { problems: problems.join('; ') });
  }
  return values as ConfigOf<Group>;
}

/** A setting as it applies in a process. */
export interface EffectiveSetting {
  readonly name: string;
  readonly description: string;
  /** Null for a secret, and for one that is not set. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly isSet: boolean;
  readonly source: 'default' | 'environment' | 'file';
}

/** What applies of every setting, and where it comes from; secrets without their value. */
export function effectiveSettings(
  settings: Settings,
  environment: Environment,
): readonly EffectiveSetting[] {
  return Object.values(settings)
    .map(
      ({
        env,
        description,
        defaultText,
        secret: isSecret = false,
        fallback,
        whileUnset = null,
        schema,
      }): EffectiveSetting => {
        const given = blankIsUnset(environment[env]);
        const byDefault = shownDefault(schema.safeParse(undefined).data, defaultText);
        const value = given ?? byDefault ?? whileUnset;
        const shown = isSecret ? (given === undefined ? whileUnset : null) : value;
        const isSet = value !== null || fallback !== undefined;
        const unset = fallback ?? 'default';
        return {
          name: env,
          description,
          value: shown === null ? null : withoutPassword(shown),
          isSecret,
          isSet,
          source: given === undefined ? unset : 'environment',
        };
      },
    )
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

/** What applies while a setting is not given: the default value, or words for it if it is a list or a switch. */
function shownDefault(value: unknown, words: string | undefined): string | null {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return value === undefined ? null : (words ?? null);
}

/** A URL can have a password although its setting is no secret. */
function withoutPassword(value: string): string {
  return value.replaceAll(/(:\/\/)[^/?#\s]*@/g, '$1…@');
}

function problemInProduction(
  { requiredInProduction = false, minLengthInProduction = 0 }: Setting,
  text: string | undefined,
  environment: Environment,
): string | undefined {
  if (environment['NODE_ENV'] !== 'production') return undefined;
  if (text === undefined) return requiredInProduction ? 'is required' : undefined;
  return text.length < minLengthInProduction
    ? `must have at least ${minLengthInProduction} characters`
    : undefined;
}

function blankIsUnset(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

function describeProblem(entry: Setting, text: string | undefined, error: z.ZodError): string {
  const reasons = error.issues.map((issue) => issue.message).join(', ');
  if (text === undefined) return `${entry.env} is required (${entry.description})`;
  const shown = entry.secret === true ? '' : `, not ${JSON.stringify(text.slice(0, 80))}`;
  return `${entry.env} must be ${reasons}${shown}`;
}

/** Any text. */
export const text = (): z.ZodType<string, string> => z.string();

/** A whole number within bounds. */
export function integer(
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): z.ZodType<number, string> {
  const message =
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${min}`
      : `a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^-?\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

/** Timers of Node.js cannot wait longer; one that is set to more fires immediately. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A whole number of milliseconds that a timer can wait. */
export const timerMs = (): z.ZodType<number, string> => integer(1, TIMER_MS_MAX);

/** A whole number of seconds that a timer can wait. */
export const timerSecs = (): z.ZodType<number, string> =>
  integer(1, Math.floor(TIMER_MS_MAX / 1_000));

/** A number within bounds, such as `0.5`. */
export function decimal(min: number, max: number): z.ZodType<number, string> {
  const message = `a number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}(\.\d{1,15})?$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

/** `true`, `1`, `yes`, `on` and their opposites. */
export function flag(): z.ZodType<boolean, string> {
  const words: Readonly<Record<string, boolean>> = {
    true: true,
    '1': true,
    yes: true,
    on: true,
    false: false,
    '0': false,
    no: false,
    off: false,
  };
  return z.string().transform((value, context) => {
    const known = words[value.toLowerCase()];
    if (known !== undefined) return known;
    context.addIssue({ code: 'custom', message: 'true or false' });
    return z.NEVER;
  });
}

/** A comma-separated list; empty entries are dropped. */
export const list = (): z.ZodType<readonly string[], string> =>
  z.string().transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );

/** An absolute URL with one of the given schemes, kept as text. */
export function urlWith(...schemes: readonly string[]): z.ZodType<string, string> {
  const message = `a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return z.string().refine((value) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    return parsed !== undefined && schemes.includes(parsed.protocol.slice(0, -1));
  }, message);
}

/** One word out of a fixed set. */
export function oneOf<const Word extends string>(
  ...words: readonly Word[]
): z.ZodType<Word, string> {
  const isWord = (value: string): value is Word => words.some((word) => word === value);
  return z.string().transform((value, context) => {
    if (isWord(value)) return value;
    context.addIssue({ code: 'custom', message: `one of ${words.join(', ')}` });
    return z.NEVER;
  });
}

/** Uses a default value when the variable is unset. */
export function withDefault<Value>(
  schema: z.ZodType<Value, string>,
  value: Value,
): z.ZodType<Value, string | undefined> {
  return z
    .string()
    .optional()
    .transform((raw, context) => {
      if (raw === undefined) return value;
      const parsed = schema.safeParse(raw);
      if (parsed.success) return parsed.data;
      for (const issue of parsed.error.issues) {
        context.addIssue({ code: 'custom', message: issue.message });
      }
      return z.NEVER;
    });
}

/** Unset is allowed and stays undefined. */
export const optional = <Value>(
  schema: z.ZodType<Value, string>,
): z.ZodType<Value | undefined, string | undefined> =>
  withDefault<Value | undefined>(schema, undefined);
