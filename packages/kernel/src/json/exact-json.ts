import { randomUUID } from 'node:crypto';
import { tryParseJson } from './try-parse.ts';
import { unusualNumbers } from './unusual-numbers.ts';
import { WrittenNumber } from './written-number.ts';

/** How many unusual numbers a text may have: each takes about a microsecond. */
const UNUSUAL_MAX = 100_000;

/** Begins the strings that stand for numbers while a text is parsed; no text has it by accident, and nobody learns it. */
const MARK = `${randomUUID()}:`;

/**
 * The value of a JSON text of a client or an upstream, for parts of it that are passed on: a number that `JSON.stringify` would
 * write otherwise is a `WrittenNumber`. Undefined for what `tryParseJson` refuses, and for a text with too many such numbers.
 */
export function tryParseExactJson(text: unknown): unknown {
  const value = tryParseJson(text);
  return value === undefined || typeof text !== 'string' ? value : withWrittenNumbers(value, text);
}

/** The same for a text that has been parsed; undefined if it has too many unusual numbers. */
export function withWrittenNumbers(value: unknown, text: string): unknown {
  const spans = unusualNumbers(text, UNUSUAL_MAX);
  if (spans === undefined) return undefined;
  return spans.length === 0 ? value : restored(JSON.parse(marked(text, spans)));
}

/** Whether a text that is JSON has more unusual numbers than are kept. */
export const hasTooManyNumbers = (text: string): boolean =>
  unusualNumbers(text, UNUSUAL_MAX) === undefined;

/** The text with a marked string in the place of each number. */
function marked(text: string, spans: readonly number[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < spans.length; at += 2) {
    const [start = 0, end = 0] = [spans[at], spans[at + 1]];
    pieces.push(text.slice(from, start), '"', MARK, text.slice(start, end), '"');
    from = end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

/** Replaces the marked strings in place. */
function restored(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? new WrittenNumber(value.slice(MARK.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  for (const name of Object.keys(value)) {
    const part: unknown = Reflect.get(value, name);
    if (typeof part !== 'string') restored(part);
    else if (part.startsWith(MARK)) Reflect.set(value, name, restored(part));
  }
  return value;
}
