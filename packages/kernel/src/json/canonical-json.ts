import { WrittenNumber } from './written-number.ts';

/** Deeper values have no canonical text. */
const DEPTH_MAX = 64;

/** The same text for equal JSON values, whatever the order of their fields; undefined for a value that is nested too deep. */
export function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber)
    return JSON.stringify(value);
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
