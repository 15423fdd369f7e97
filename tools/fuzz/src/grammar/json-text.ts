import * as fc from 'fast-check';
import { hostileName, hostileValue } from './hostile.ts';

/** A value by its own JSON text, valid or not. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A change at one place of a value; places are counted in the order of writing. */
const change = fc.record({
  at: fc.nat(200),
  kind: fc.constantFrom(
    'replace',
    'replace',
    'replace',
    'remove',
    'repeat',
    'wrap',
    'rename',
    'add',
  ),
  text: hostileValue,
  name: hostileName,
});
type Change = Parameters<Parameters<typeof change.map>[0]>[0];

/** The JSON text of values: mostly with a few changes, sometimes valid, so that the service does real work too. */
export const jsonText = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(
      valid,
      fc.oneof(
        { weight: 1, arbitrary: fc.constant<Change[]>([]) },
        { weight: 3, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
      ),
    )
    .map(([value, changes]) => write(value, changes));

/** Mostly the text of these values; sometimes any hostile value, or no JSON at all. */
export const hostileText = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 10, arbitrary: jsonText(valid) },
    { weight: 1, arbitrary: hostileValue },
    { weight: 1, arbitrary: fc.string() },
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !(value instanceof Raw);

/** The fields of an object or the items of a list, without names. */
const innerOf = (value: unknown): readonly unknown[] =>
  isObject(value) ? Object.values(value).filter((each) => each !== undefined) : [];

const countPlaces = (value: unknown): number =>
  innerOf(value).reduce<number>((count, each) => count + countPlaces(each), 1);

/** Writes a value by hand, because JSON.stringify knows neither repeated fields nor wrong texts. */
function write(value: unknown, changes: readonly Change[]): string {
  const places = countPlaces(value);
  const changeAt = (place: number) => changes.find(({ at }) => at % places === place);
  let last = -1;
  const textsOf = (each: unknown): readonly string[] => {
    last += 1;
    const { kind, text = '', name = '' } = changeAt(last) ?? {};
    if (kind === 'replace') return [text];
    if (kind === 'remove') return [];
    const isAdded = kind === 'add';
    if (isAdded && !isObject(each)) return [text];
    const added = isAdded ? [Array.isArray(each) ? text : `${JSON.stringify(name)}:${text}`] : [];
    const whole = wholeOf(each, added);
    if (kind === 'repeat') return [whole, whole];
    return [kind === 'wrap' ? `[${whole}]` : whole];
  };
  const wholeOf = (each: unknown, added: readonly string[]): string => {
    if (each instanceof Raw) return each.text;
    if (Array.isArray(each)) return `[${[...each.flatMap(textsOf), ...added].join(',')}]`;
    if (!isObject(each)) return JSON.stringify(each) ?? 'null';
    const fields = Object.entries(each).flatMap(([name, inner]) => {
      if (inner === undefined) return [];
      const here = changeAt(last + 1);
      const shown = JSON.stringify(here?.kind === 'rename' ? here.name : name);
      return textsOf(inner).map((text) => `${shown}:${text}`);
    });
    return `{${[...fields, ...added].join(',')}}`;
  };
  return textsOf(value)[0] ?? '';
}
