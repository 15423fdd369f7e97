const ORIGIN: unique symbol = Symbol('origin');

/** What an upstream really sent. An answer or a chunk of an upstream of the client's API remembers it. It is not part of the JSON. */
interface Origin {
  /** The API, such as `messages` or `responses`. */
  readonly api: string;
  readonly value: Readonly<Record<string, unknown>>;
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
