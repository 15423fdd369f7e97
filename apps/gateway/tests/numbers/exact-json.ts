import * as fc from 'fast-check';

interface RawJson {
  readonly rawJSON: (text: string) => object;
  readonly parse: (text: string, reviver: Reviver) => unknown;
}
type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** What the library of TypeScript does not know of `JSON` yet. */
const json = JSON as unknown as RawJson;

/** The value of a JSON text, in which each number is a text of its own: `#` and how it is written. */
export const exact = (text: string): unknown =>
  json.parse(text, (_name, value, { source }) =>
    typeof value === 'number' ? `#${source}` : value,
  );

/** A number that is written like this. */
export const written = (text: string): object => json.rawJSON(text);

const digits = (min: number, max: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max })
    .map((all) => all.join(''));
const whole = digits(1, 40).map((text) => text.replace(/^0+(?=\d)/, ''));
const sign = fc.constantFrom('', '-');
const exponent = fc
  .tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), fc.integer({ min: 0, max: 250 }))
  .map((parts) => parts.join(''));

/** A number as it may be written. */
const number = fc
  .oneof(
    fc.tuple(sign, whole),
    fc.tuple(sign, whole, fc.constant('.'), digits(1, 40)),
    fc.tuple(sign, digits(1, 1), exponent),
    fc.tuple(sign, digits(1, 1), fc.constant('.'), digits(1, 20), exponent),
    fc.constantFrom(['0'], ['-0'], ['-0.0'], ['1.0'], ['9007199254740993'], ['1e-7'], ['0.10']),
  )
  .map((parts) => written(parts.join('')));

const name = fc.constantFrom('a', 'id', 'minimum', 'n', 'x1.0', 'é"\\', '12');
const { value: anyValue } = fc.letrec<{ value: unknown; list: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    fc.constantFrom<unknown>('', '1.0', '"\\"1e5', true, false, null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
}));

/** An object with values of any depth, which has at least one number that a double cannot hold. */
export const anyObject = fc
  .dictionary(name, anyValue, { maxKeys: 4 })
  .map((fields) => ({ ...fields, exact: written('1234567890123456789012345678901234567890') }));

/** Whether a value, or a JSON text inside of it, has a part that equals another value. */
export function holds(value: unknown, part: unknown): boolean {
  const wanted = sorted(part);
  const seek = (one: unknown): boolean => {
    if (sorted(one) === wanted) return true;
    if (typeof one === 'string') {
      const inner = /^\s*[[{]/.test(one) ? parsed(one) : undefined;
      return inner !== undefined && seek(inner);
    }
    return typeof one === 'object' && one !== null && Object.values(one).some(seek);
  };
  return seek(value);
}

function parsed(text: string): unknown {
  try {
    return exact(text);
  } catch {
    return undefined;
  }
}

/** The same text for equal values, whatever the order of their names. */
const sorted = (one: unknown): string =>
  JSON.stringify(one, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
