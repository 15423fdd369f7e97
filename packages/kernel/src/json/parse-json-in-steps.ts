import { createStepPauses } from './step-pauses.ts';
import { tryParseJson } from './try-parse.ts';

/** Parsed within some milliseconds, whatever it contains. */
const STEP_CHARS = 64 * 1024;
/** Values that are longer than a step are nested less than this: each level of them is looked at once more. */
const LONG_DEPTH_MAX = 16;
const SPACE = /[ \t\r\n]*/y;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** `\u` and four digits. */
const ESCAPE_CHARS_MAX = 6;

/** As `tryParseJson`, for a long text: between its steps the process serves other requests. */
export async function parseJsonInSteps(text: string): Promise<unknown> {
  if (text.length <= STEP_CHARS) return tryParseJson(text);
  const reader = new StepReader(text);
  try {
    const value = await reader.value(LONG_DEPTH_MAX);
    return reader.isAtEnd() ? value : undefined;
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

class NotJson extends Error {}

/** Some whole elements or fields of a container, or that the next one is too long for a step. */
interface Run {
  readonly to: number;
  readonly kind: 'ended' | 'divided' | 'long';
}

/** Reads values from a text, in steps. It goes on where the last value ended. */
class StepReader {
  readonly #text: string;
  readonly #pauseIfDue = createStepPauses();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#skipSpace();
    return this.#at === this.#text.length;
  }

  async value(levels: number): Promise<unknown> {
    this.#skipSpace();
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.#string();
    if (code !== OPEN_BRACKET && code !== OPEN_BRACE) throw new NotJson();
    if (levels === 0) throw new NotJson();
    this.#at += 1;
    return code === OPEN_BRACKET ? this.#list(levels) : this.#object(levels);
  }

  async #list(levels: number): Promise<unknown> {
    // Joined at the end: a list that begins with numbers then stays one of numbers, which the garbage collector need not visit.
    const runs: unknown[][] = [];
    const readRun = (run: string): void => {
      runs.push(parsedAs(isList, `[${run}]`));
    };
    await this.#container(CLOSE_BRACKET, readRun, async () => {
      runs.push([await this.value(levels - 1)]);
    });
    const [first = []] = runs;
    return runs.length > 1 ? first.concat(...runs.slice(1)) : first;
  }

  async #object(levels: number): Promise<unknown> {
    const object: Record<string, unknown> = {};
    const readRun = (run: string): void => {
      const parsed = parsedAs(isObject, `{${run}}`);
      for (const [name, value] of Object.entries(parsed)) setField(object, name, value);
    };
    await this.#container(CLOSE_BRACE, readRun, async () => {
      this.#skipSpace();
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw new NotJson();
      const name = String(await this.#string());
      this.#skipSpace();
      if (this.#text[this.#at] !== ':') throw new NotJson();
      this.#at += 1;
      setField(object, name, await this.value(levels - 1));
    });
    return object;
  }

  /** Reads to the end of a container: short elements many at a time, a long one by itself. */
  async #container(
    close: number,
    readRun: (run: string) => void,
    readLong: () => Promise<void>,
  ): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      const { to, kind } = this.#run();
      if (kind === 'long') {
        await readLong();
        this.#skipSpace();
      } else {
        const run = this.#text.slice(this.#at, to);
        // A run without any value is valid only in an empty container.
        if (run.trim() !== '') readRun(run);
        else if (!isFirst || kind !== 'ended') throw new NotJson();
        this.#at = to;
      }
      const code = this.#text.charCodeAt(this.#at);
      this.#at += 1;
      if (code === close) return;
      if (code !== COMMA) throw new NotJson();
      await this.#pauseIfDue();
    }
  }

  /** Looks for the last comma within a step, or the end of the container. */
  #run(): Run {
    const text = this.#text;
    const limit = this.#at + STEP_CHARS;
    let comma = -1;
    let depth = 0;
    for (let at = this.#at; at < text.length; at += 1) {
      if (at > limit) return comma === -1 ? LONG : { to: comma, kind: 'divided' };
      switch (text.charCodeAt(at)) {
        case QUOTE:
          at = endOfString(text, at + 1, limit);
          break;
        case COMMA:
          if (depth === 0) comma = at;
          break;
        case OPEN_BRACKET:
        case OPEN_BRACE:
          depth += 1;
          break;
        case CLOSE_BRACKET:
        case CLOSE_BRACE:
          if (depth === 0) return { to: at, kind: 'ended' };
          depth -= 1;
          break;
      }
    }
    throw new NotJson();
  }

  /** Reads a string, a long one in pieces. */
  async #string(): Promise<unknown> {
    const text = this.#text;
    const pieces: string[] = [];
    for (let from = this.#at + 1; ;) {
      const limit = from + STEP_CHARS;
      const quote = endOfString(text, from, limit);
      const isLast = quote < limit;
      const end = isLast ? quote : pieceEnd(text, from, limit);
      if (!isLast && limit >= text.length) throw new NotJson();
      pieces.push(parsedAs(isString, `"${text.slice(from, end)}"`));
      if (isLast) {
        this.#at = quote + 1;
        return pieces.join('');
      }
      from = end;
      await this.#pauseIfDue();
    }
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
  }
}

const LONG: Run = { to: 0, kind: 'long' };

/** Where the quote is that ends a string, whose rest begins at `from`; the limit, if there is none before it. */
function endOfString(text: string, from: number, limit: number): number {
  for (let at = from; at < limit;) {
    const quote = text.slice(at, limit).indexOf('"');
    if (quote === -1) return limit;
    if (backslashesBefore(text, at + quote, at) % 2 === 0) return at + quote;
    at += quote + 1;
  }
  return limit;
}

function backslashesBefore(text: string, end: number, start: number): number {
  let at = end;
  while (at > start && text.charCodeAt(at - 1) === BACKSLASH) at -= 1;
  return end - at;
}

/** The end of a piece of a string, not inside of an escape. */
function pieceEnd(text: string, from: number, end: number): number {
  let escape = end - 1;
  while (text.charCodeAt(escape) !== BACKSLASH) {
    escape -= 1;
    if (end - escape >= ESCAPE_CHARS_MAX) return end;
  }
  // After an even number of backslashes it begins an escape, which the end may cut.
  return backslashesBefore(text, escape, from) % 2 === 0 ? escape : end;
}

function parsedAs<Value>(is: (value: unknown) => value is Value, json: string): Value {
  const value = tryParseJson(json);
  if (!is(value)) throw new NotJson();
  return value;
}

/** Defined, not assigned, so that a field named `__proto__` is an ordinary one. */
function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    const field = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, name, field);
  } else object[name] = value;
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isString = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
