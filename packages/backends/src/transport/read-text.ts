import {
  decodeInSteps,
  isCheapJson,
  isNestedTooDeeply,
  parseJsonInSteps,
  tryParseJson,
} from '@model-gateway/kernel';
import { answerRefused, upstreamFailed } from '../errors/upstream-error.ts';
import { createAnswerLimits } from './answer-limits.ts';

/** A shorter text is decoded and parsed within some milliseconds. */
const LONG_MIN = 256 * 1024;

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

/** Reads a response; one that is too large, or would take long to parse, is refused while it arrives. */
export async function readTextAnswer(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  const limits = createAnswerLimits(bytesMax);
  for await (const chunk of body) {
    const refused = limits.add(chunk);
    if (refused !== undefined) throw refused;
    chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
  }
  return decode(chunks);
}

/** The text of chunks; that of many is decoded in steps. */
export function decode(chunks: readonly Buffer[]): string | Promise<string> {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined && first.length < LONG_MIN)
    return first.toString('utf8');
  let size = 0;
  for (const { length } of chunks) size += length;
  return size < LONG_MIN ? Buffer.concat(chunks).toString('utf8') : decodeInSteps(chunks);
}

/** Parses a JSON answer whose parts are checked one by one afterwards, so that it must not have many. */
export async function readSmallJson(text: string): Promise<unknown> {
  if (!isCheapJson(text)) throw answerRefused('with too many values');
  return readJson(text);
}

/** Parses a text that must be JSON. A long one is parsed in steps: then this is a promise. */
export function readJson(text: string): unknown {
  if (text.length >= LONG_MIN) return readLong(text);
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  throw notJson(isNestedTooDeeply(text));
}

async function readLong(text: string): Promise<unknown> {
  const value = await parseJsonInSteps(text);
  if (value === undefined) throw notJson(false);
  return value;
}

const notJson = (isDeep: boolean) =>
  upstreamFailed(`the upstream response is ${isDeep ? 'nested too deeply' : 'not JSON'}`);
