import type { ServiceError } from '@model-gateway/contracts';

const ORIGIN: unique symbol = Symbol('origin');
/** The name of `isToolError` among what is lost. */
export const TOOL_ERROR = 'tool_result.is_error';
const NOTHING: readonly string[] = [];

/**
 * What a client or an upstream really sent. A chat body or message that a dialect made remembers it, so that an upstream
 * that speaks the same API gets it unchanged, with all that a turn cannot express. A chat answer or chunk of such an
 * upstream remembers it as well. It is not part of the JSON.
 */
export interface Origin {
  /** The API, such as `messages` or `responses`. */
  readonly api: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** Why an upstream of another API cannot get the request. */
  readonly untranslatable?: ServiceError | undefined;
  /** What a chat body cannot say, as `x-service-ignored` names it. An upstream that gets it nevertheless does not name it. */
  readonly lost?: readonly string[] | undefined;
  /** Whether a message is a result of a tool that failed, which a chat message cannot say. */
  readonly isToolError?: boolean | undefined;
}

/** A copy that remembers its origin; copies made with `...` remember it as well. */
export const withOrigin = <Value extends object>(value: Value, origin: Origin): Value => ({
  ...value,
  [ORIGIN]: origin,
});

interface WithOrigin {
  readonly [ORIGIN]: Origin;
}

const hasOrigin = (value: object): value is WithOrigin => ORIGIN in value;

/** The original object if it was made for this API. */
export function originIn(api: string, value: object): Origin['value'] | undefined {
  return hasOrigin(value) && value[ORIGIN].api === api ? value[ORIGIN].value : undefined;
}

/** Why an upstream that speaks these APIs cannot get a body; undefined if it can. */
export function refusalFor(
  apis: ReadonlySet<string> | undefined,
  value: object,
): ServiceError | undefined {
  if (!hasOrigin(value)) return undefined;
  const { api, untranslatable } = value[ORIGIN];
  return apis?.has(api) === true ? undefined : untranslatable;
}

/** Whether a client of another API sent it. */
export const isTranslated = (value: object): boolean => hasOrigin(value);

/** What the client said and a chat body cannot say. */
export const lostIn = (value: object): readonly string[] =>
  (hasOrigin(value) ? value[ORIGIN].lost : undefined) ?? NOTHING;

/** Whether a message is a result of a tool that failed. */
export const isToolError = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  hasOrigin(value) &&
  value[ORIGIN].isToolError === true;

/** Copies the origin of one object to another. */
export function keepOrigin(from: object, to: object): void {
  if (hasOrigin(from)) Reflect.set(to, ORIGIN, from[ORIGIN]);
}
