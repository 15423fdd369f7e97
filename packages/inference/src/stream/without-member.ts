const QUOTE = '"';
const BACKSLASH = '\\';

/** Where a member of an object stands in its JSON text, together with one comma beside it. */
export type MemberRange = readonly [from: number, to: number];

/**
 * Finds a member of the outermost object in a JSON text, so that it can be cut out and the rest stays as it was written.
 * Undefined if the object does not have it.
 */
export function findMember(json: string, name: string): MemberRange | undefined {
  const key = JSON.stringify(name);
  let depth = 0;
  /** The brace or comma before the current member of the outermost object. */
  let before = -1;
  let isKeyNext = false;
  let isFound = false;
  for (let at = json.indexOf('{'); at >= 0 && at < json.length; at += 1) {
    const sign = json.charAt(at);
    if (sign === QUOTE) {
      if (isKeyNext) isFound = json.startsWith(key, at);
      isKeyNext = false;
      at = endOfString(json, at + 1);
    } else if (sign === '{' || sign === '[') {
      depth += 1;
      if (depth === 1) [before, isKeyNext] = [at, true];
    } else if (depth === 1 && (sign === ',' || sign === '}')) {
      if (isFound) return rangeOf(json, before, at);
      if (sign === '}') return undefined;
      [before, isKeyNext] = [at, true];
    } else if (sign === '}' || sign === ']') {
      depth -= 1;
    }
  }
  return undefined;
}

/** The JSON text of an object without one of its members. */
export function withoutMember(json: string, name: string): string {
  const range = findMember(json, name);
  return range === undefined ? json : json.slice(0, range[0]) + json.slice(range[1]);
}

/** The first member goes with the comma behind it, every other one with the comma before it. */
function rangeOf(json: string, before: number, end: number): MemberRange {
  if (json.charAt(before) === ',') return [before, end];
  return [before + 1, json.charAt(end) === ',' ? end + 1 : end];
}

/** The closing quote of the string that begins there. */
function endOfString(json: string, from: number): number {
  let at = from;
  while (at < json.length && json.charAt(at) !== QUOTE) at += json.charAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
