import { END_OF_BODY_MS_MAX, readToEnd, withTimeout } from '@model-gateway/kernel';
import { upstreamFailed } from '../../errors/upstream-error.ts';

const NEWLINE = 0x0a;

interface LineOptions {
  readonly lineBytesMax: number;
  /** The first byte of the lines that are needed; others may be left out without being decoded. */
  readonly firstByte?: number;
}

/** Splits a body into lines, each decoded at once, so that no character is split. A class, because this runs for each token. */
class LineSplitter {
  readonly #lineBytesMax: number;
  readonly #firstByte: number | undefined;
  #chunk: Buffer = Buffer.alloc(0);
  #start = 0;
  /** The beginning of a line whose end has not come. */
  #parts: Buffer[] = [];
  #size = 0;

  constructor({ lineBytesMax, firstByte }: LineOptions) {
    this.#lineBytesMax = lineBytesMax;
    this.#firstByte = firstByte;
  }

  /** Adds a part of the body, after `next` has returned all lines of the one before. */
  push(chunk: Uint8Array): void {
    this.#chunk = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    this.#start = 0;
  }

  /** The next line that is not empty; undefined if there is no whole one. */
  next(): string | undefined {
    const chunk = this.#chunk;
    for (;;) {
      const start = this.#start;
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) {
        if (start < chunk.length) this.#keep(chunk.subarray(start));
        this.#start = chunk.length;
        return undefined;
      }
      this.#start = end + 1;
      const line = this.#parts.length === 0 ? this.#decoded(start, end) : this.#joined(start, end);
      if (line !== '') return line;
    }
  }

  /** What is after the last end of a line. */
  rest(): string {
    return this.#joined(this.#chunk.length, this.#chunk.length);
  }

  #decoded(start: number, end: number): string {
    if (end === start) return '';
    if (this.#firstByte !== undefined && this.#chunk[start] !== this.#firstByte) return '';
    if (end - start > this.#lineBytesMax) throw this.#tooLong();
    return this.#chunk.toString('utf8', start, end).trim();
  }

  #joined(start: number, end: number): string {
    if (end > start) this.#keep(this.#chunk.subarray(start, end));
    const line = Buffer.concat(this.#parts).toString('utf8').trim();
    this.#parts = [];
    this.#size = 0;
    return line;
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#lineBytesMax) throw this.#tooLong();
    this.#parts.push(part);
  }

  #tooLong(): Error {
    return upstreamFailed(`the upstream sent a line of more than ${this.#lineBytesMax} bytes`);
  }
}

const OVER = { done: true, value: undefined } as const;

/** How the lines of a streamed body are read. */
interface BodyLinesOptions extends LineOptions {
  /**
   * Whether the lines that were read may be the whole answer. Then more lines are awaited only for a moment, and when the
   * reader stops, the rest is read too, so that the connection is used again.
   */
  readonly isComplete?: (() => boolean) | undefined;
  /** What is read of a line; undefined for a line that is left out. */
  readonly select?: (line: string) => string | undefined;
}

/** The lines of a body that are not empty. A reader that stops before the answer is complete cancels the response. */
export async function* bodyLines(
  body: AsyncIterable<Uint8Array>,
  { isComplete = () => false, select = (line) => line, ...options }: BodyLinesOptions,
): AsyncGenerator<string, void, undefined> {
  const lines = new LineSplitter(options);
  const source = body[Symbol.asyncIterator]();
  const read = () =>
    isComplete() ? withTimeout(source.next(), END_OF_BODY_MS_MAX, () => OVER) : source.next();
  try {
    for (let next = await read(); next.done !== true; next = await read()) {
      lines.push(next.value);
      for (let line = lines.next(); line !== undefined; line = lines.next()) {
        const selected = select(line);
        if (selected !== undefined) yield selected;
      }
    }
    const last = lines.rest();
    const selected = last === '' ? undefined : select(last);
    if (selected !== undefined) yield selected;
  } finally {
    if (isComplete()) readToEnd(source);
    else await source.return?.();
  }
}
