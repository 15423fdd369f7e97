import { tryParseJson } from '@model-gateway/kernel';
import { upstreamFailed } from '../errors/upstream-error.ts';

/** Reads a body as text, at most so many bytes; what is over is left unread and the connection with it. */
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

/** Reads a whole JSON answer; one that is too large, cut or no JSON is a failure of the upstream. */
export async function readJsonAnswer(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<unknown> {
  const text = await readText(body, bytesMax + 1);
  if (text.length > bytesMax)
    throw upstreamFailed(`the upstream answered more than ${bytesMax} bytes`);
  return readJson(text);
}

/** The value of a text that has to be JSON. */
export function readJson(text: string): unknown {
  const value = tryParseJson(text);
  if (value === undefined) throw upstreamFailed('the upstream answered something that is not JSON');
  return value;
}
