import { bodyLines } from './body-lines.ts';

const DATA = 'data:';
const LINE_BYTES_MAX = 16 * 1024 * 1024;

/** The data of server-sent events whose data is one line each, as that of JSON is. */
export async function* eventData(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  for await (const line of bodyLines(body, LINE_BYTES_MAX)) {
    if (line.startsWith(DATA)) yield line.slice(DATA.length).trim();
  }
}
