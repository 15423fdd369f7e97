import { isNestedTooDeeply, tryParseJson } from '@model-gateway/kernel';
import { upstreamFailed } from '../errors/upstream-error.ts';

/** Reads a body as text, up to a number of bytes; if it is longer, the connection is closed. */
export async function readText(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= bytesMax) break;
  }
  const whole =
    chunks.length === 1 && chunks[0] !== undefined ? Buffer.from(chunks[0]) : Buffer.concat(chunks);
  return whole.toString('utf8', 0, bytesMax);
}

/** Reads a JSON response; one that is too large, truncated or not JSON is a failure of the upstream. */
export async function readJsonAnswer(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<unknown> {
  return readJson(await readTextAnswer(body, bytesMax));
}

/** Reads a response; one that is too large is a failure of the upstream. */
export async function readTextAnswer(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<string> {
  const text = await readText(body, bytesMax + 1);
  if (text.length > bytesMax)
    throw upstreamFailed(`the upstream answered more than ${bytesMax} bytes`);
  return text;
}

/** Parses a text that must be JSON. */
export function readJson(text: string): unknown {
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  const isDeep = isNestedTooDeeply(text);
  throw upstreamFailed(`the upstream response is ${isDeep ? 'nested too deeply' : 'not JSON'}`);
}
