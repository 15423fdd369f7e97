import { isCheapJson } from '@model-gateway/kernel';
import { answerRefused } from '../../errors/upstream-error.ts';
import { bodyLines } from './body-lines.ts';

const DATA = 'data:';
const LINE_BYTES_MAX = 8 * 1024 * 1024;

/** The data of server-sent events whose data is one line each, as that of JSON is. */
export async function* eventData(
  body: AsyncIterable<Uint8Array>,
  lineBytesMax = LINE_BYTES_MAX,
): AsyncGenerator<string, void, undefined> {
  for await (const line of bodyLines(body, lineBytesMax)) {
    if (!line.startsWith(DATA)) continue;
    const data = line.slice(DATA.length).trim();
    if (!isCheapJson(data)) throw answerRefused('an event with too many values');
    yield data;
  }
}
