import { upstreamFailed } from '../../errors/upstream-error.ts';
import { splitBody, type BodySplitter } from './split-body.ts';

const NEWLINE = 0x0a;

interface BodyLinesOptions {
  readonly lineBytesMax: number;
  /** Whether the lines that were read may be the whole answer. */
  readonly isComplete?: () => boolean;
}

/** The lines of a streamed body that are not empty. */
export const bodyLines = (
  body: AsyncIterable<Uint8Array>,
  { lineBytesMax, isComplete }: BodyLinesOptions,
): AsyncGenerator<string, void, undefined> =>
  splitBody(body, createLineSplitter(lineBytesMax), isComplete);

/** Each line is decoded whole, so that no character is split. */
function createLineSplitter(lineBytesMax: number): BodySplitter {
  /** The beginning of a line whose end has not come. */
  let parts: Uint8Array[] = [];
  let size = 0;

  function keep(part: Uint8Array): void {
    size += part.length;
    if (size > lineBytesMax) throw lineTooLong(lineBytesMax);
    parts.push(part);
  }
  function take(): readonly string[] {
    const line = Buffer.concat(parts).toString('utf8').trim();
    parts = [];
    size = 0;
    return line === '' ? [] : [line];
  }

  return {
    push(bytes) {
      const lines: string[] = [];
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        keep(bytes.subarray(start, end));
        lines.push(...take());
        start = end + 1;
      }
      keep(bytes.subarray(start));
      return lines;
    },
    rest: take,
  };
}

/** The failure of an upstream that sent a line without end. */
export const lineTooLong = (bytesMax: number): Error =>
  upstreamFailed(`the upstream sent a line of more than ${bytesMax} bytes`);
