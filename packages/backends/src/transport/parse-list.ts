import { createStepPauses, tryParseJson } from '@model-gateway/kernel';

/** An object of JSON with one list in it. */
export interface ParsedList<Element> {
  /** The object; a long list in it is empty. */
  readonly object: unknown;
  /** The elements of the list, as `read` returned them; undefined if there is no list. */
  readonly elements: readonly Element[] | undefined;
}

/** A shorter text is parsed within some milliseconds. */
const LONG_CHARS_MIN = 256 * 1024;
const WHITESPACE = /[ \t\r\n]*/y;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const SCALAR = /[^,\]} \t\r\n]+/y;
const NO_BRACKET = /[^"[\]{}]*/y;

/**
 * Parses a JSON object and the list `name` in it. The elements of a long one are parsed one by one, and between them the process
 * serves other requests. Undefined if the text is not an object of JSON.
 */
export async function parseList<Element>(
  text: string,
  name: string,
  read: (element: unknown) => Element,
): Promise<ParsedList<Element> | undefined> {
  const begin = text.length < LONG_CHARS_MIN ? undefined : findList(text, name);
  if (begin === undefined) return parseWhole(text, name, read);
  const pauseIfDue = createStepPauses();
  const elements: Element[] = [];
  let at = begin;
  do {
    const from = afterSpace(text, at + 1);
    const to = endOfValue(text, from);
    if (to === undefined) {
      // Only an empty list has no element between its brackets.
      if (text[from] !== ']' || at !== begin) return undefined;
      at = from;
      break;
    }
    const element = tryParseJson(text.slice(from, to));
    if (element === undefined) return undefined;
    elements.push(read(element));
    at = afterSpace(text, to);
    await pauseIfDue();
  } while (text[at] === ',');
  const object = tryParseJson(text.slice(0, begin + 1) + text.slice(at));
  return object === undefined ? undefined : { object, elements };
}

function parseWhole<Element>(
  text: string,
  name: string,
  read: (element: unknown) => Element,
): ParsedList<Element> | undefined {
  const object = tryParseJson(text);
  if (typeof object !== 'object' || object === null) return undefined;
  const list: unknown = Reflect.get(object, name);
  return { object, elements: Array.isArray(list) ? list.map(read) : undefined };
}

/** Where a list begins; undefined if it is not found. Whether the rest is JSON is not checked. */
function findList(text: string, name: string): number | undefined {
  let at = afterSpace(text, 0);
  if (text[at] !== '{') return undefined;
  do {
    const keyFrom = afterSpace(text, at + 1);
    const keyTo = endOf(STRING, text, keyFrom);
    const colon = afterSpace(text, keyTo);
    if (keyTo === keyFrom || text[colon] !== ':') return undefined;
    const valueFrom = afterSpace(text, colon + 1);
    if (text[valueFrom] === '[' && tryParseJson(text.slice(keyFrom, keyTo)) === name)
      return valueFrom;
    const valueTo = endOfValue(text, valueFrom);
    if (valueTo === undefined) return undefined;
    at = afterSpace(text, valueTo);
  } while (text[at] === ',');
  return undefined;
}

function endOfValue(text: string, from: number): number | undefined {
  const first = text[from];
  if (first === '{' || first === '[') return endOfBrackets(text, from);
  const to = endOf(first === '"' ? STRING : SCALAR, text, from);
  return to === from ? undefined : to;
}

function endOfBrackets(text: string, from: number): number | undefined {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      const to = endOf(STRING, text, at);
      if (to === at) return undefined;
      at = to;
    } else {
      depth += character === '{' || character === '[' ? 1 : -1;
      at += 1;
      if (depth === 0) return at;
    }
    at = endOf(NO_BRACKET, text, at);
  }
  return undefined;
}

const afterSpace = (text: string, from: number): number => endOf(WHITESPACE, text, from);

/** Where the match at a place ends; the place itself if there is none. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}
