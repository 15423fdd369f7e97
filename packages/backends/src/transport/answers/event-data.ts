import { isCheapJson } from '@model-gateway/kernel';
import { answerRefused } from '../../errors/upstream-error.ts';
import { LineSplitter } from './body-lines.ts';

const DATA = 'data:';
const LINE_BYTES_MAX = 8 * 1024 * 1024;

/** The data of server-sent events whose data is one line each, as that of JSON is. */
export async function* eventData(
  body: AsyncIterable<Uint8Array>,
  lineBytesMax = LINE_BYTES_MAX,
): AsyncGenerator<string, void, undefined> {
  // Not `bodyLines`, because each generator costs as much as reading a token.
  const lines = new LineSplitter({ lineBytesMax, firstByte: DATA.charCodeAt(0) });
  for await (const chunk of body) {
    lines.push(chunk);
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      if (line.startsWith(DATA)) yield dataOf(line);
    }
  }
  const last = lines.rest();
  if (last.startsWith(DATA)) yield dataOf(last);
}

function dataOf(line: string): string {
  const data = line.slice(DATA.length).trim();
  if (!isCheapJson(data)) throw answerRefused('an event with too many values');
  return data;
}
