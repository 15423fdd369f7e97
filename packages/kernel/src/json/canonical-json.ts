import { WrittenNumber } from './written-number.ts';

/** Deeper values have no canonical text. */
const DEPTH_MAX = 64;

/** The same text for equal JSON values, whatever the order of their fields and however their numbers are written; undefined for a value that is nested too deep. */
export function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof WrittenNumber) return textOfNumber(value);
  if (depth === DEPTH_MAX) return undefined;
  return Array.isArray(value) ? textOfList(value, depth + 1) : textOfObject(value, depth + 1);
}

function textOfList(list: readonly unknown[], depth: number): string | undefined {
  let text = '[';
  for (const entry of list) {
    const written = canonicalJson(entry, depth);
    if (written === undefined) return undefined;
    text += `${written},`;
  }
  return `${text}]`;
}

function textOfObject(object: object, depth: number): string | undefined {
  let text = '{';
  for (const name of Object.keys(object).toSorted()) {
    const written = canonicalJson(Reflect.get(object, name), depth);
    if (written === undefined) return undefined;
    text += `${JSON.stringify(name)}:${written},`;
  }
  return `${text}}`;
}

/** As the plain number that it equals, if there is one: `0.50` as `0.5`. */
function textOfNumber(number: WrittenNumber): string {
  const plain = number.valueOf();
  const digits = digitsOf(number.toString());
  return digits === digitsOf(String(plain)) ? JSON.stringify(plain) : digits;
}

/** The digits without zeros at either end, and the power of ten that they are multiplied by. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(text) ?? [];
  const significant = `${whole}${fraction}`.replace(/^0+/, '');
  let end = significant.length;
  while (significant[end - 1] === '0') end -= 1;
  if (end === 0) return '0';
  const power = Number(exponent) - fraction.length + significant.length - end;
  return `${sign}${significant.slice(0, end)}e${power}`;
}
