/**
 * Finds the source text of parts of a JSON document, because `JSON.parse` loses numbers beyond 2^53 and how a number was
 * written. A reviver of `JSON.parse` gets the sources too, but blocks the process for a second for a MiB of small numbers.
 * Every function here requires valid JSON.
 */

/** The source texts of the elements of an array. */
export function elementSources(array: string): readonly string[] {
  const elements: string[] = [];
  let at = skipSpace(array, 0) + 1;
  for (at = skipSpace(array, at); array[at] !== ']'; at = skipSpace(array, at)) {
    const end = valueEnd(array, at);
    elements.push(array.slice(at, end));
    at = skipSpace(array, end);
    if (array[at] === ',') at += 1;
  }
  return elements;
}

/** The source text of a member of an object; the last one of a repeated name, like `JSON.parse`. */
export function memberSource(object: string, name: string): string | undefined {
  let found: string | undefined;
  let at = skipSpace(object, 0) + 1;
  for (at = skipSpace(object, at); object[at] !== '}'; at = skipSpace(object, at)) {
    const keyEnd = valueEnd(object, at);
    const isNamed = isKey(object.slice(at, keyEnd), name);
    const valueStart = skipSpace(object, skipSpace(object, keyEnd) + 1);
    at = valueEnd(object, valueStart);
    if (isNamed) found = object.slice(valueStart, at);
    at = skipSpace(object, at);
    if (object[at] === ',') at += 1;
  }
  return found;
}

/** The text without insignificant white space. */
export function compact(source: string): string {
  let text = '';
  for (let at = 0; at < source.length;) {
    const character = source.charAt(at);
    const end = character === '"' ? stringEnd(source, at) : at + 1;
    if (!isSpace(source.charCodeAt(at))) text += source.slice(at, end);
    at = end;
  }
  return text;
}

/** The source of a key may contain escapes. */
function isKey(source: string, name: string): boolean {
  return source.includes('\\') ? JSON.parse(source) === name : source.slice(1, -1) === name;
}

/** The white space of JSON: space, tab, line feed and carriage return. */
const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function valueEnd(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return stringEnd(text, from);
  if (first !== '{' && first !== '[') return scalarEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length;) {
    BOUND.lastIndex = at;
    const found = BOUND.exec(text);
    if (found === null) break;
    const [character] = found;
    if (character === '"') {
      at = stringEnd(text, found.index);
      continue;
    }
    depth += character === '{' || character === '[' ? 1 : -1;
    at = found.index + 1;
    if (depth === 0) return at;
  }
  return text.length;
}

const BOUND = /["[\]{}]/g;

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

const SCALAR_END = /[\s,\]}]/g;

function scalarEnd(text: string, from: number): number {
  SCALAR_END.lastIndex = from;
  return SCALAR_END.exec(text)?.index ?? text.length;
}
