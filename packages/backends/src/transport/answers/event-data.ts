import { isCheapJson } from '@model-gateway/kernel';
import { answerRefused } from '../../errors/upstream-error.ts';
import { bodyLines } from './body-lines.ts';

const DATA = 'data:';
const LINE_BYTES_MAX = 16 * 1024 * 1024;

interface EventDataOptions {
  readonly lineBytesMax?: number;
  /** Whether the events that were read may be the whole answer, as for lines. */
  readonly isComplete?: () => boolean;
}

/** The data of server-sent events whose data is one line each, as that of JSON is. */
export function eventData(
  body: AsyncIterable<Uint8Array>,
  { lineBytesMax = LINE_BYTES_MAX, isComplete }: EventDataOptions = {},
): AsyncGenerator<string, void, undefined> {
  const firstByte = DATA.charCodeAt(0);
  return bodyLines(body, { lineBytesMax, firstByte, select: dataOf, isComplete });
}

function dataOf(line: string): string | undefined {
  if (!line.startsWith(DATA)) return undefined;
  const data = line.slice(DATA.length).trim();
  if (!isCheapJson(data)) throw answerRefused('an event with too many values');
  return data;
}
