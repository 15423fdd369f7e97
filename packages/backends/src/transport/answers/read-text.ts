import {
  decodeInSteps,
  isCheapJson,
  isNestedTooDeeply,
  parseJsonInSteps,
  tryParseJson,
  type Cancel,
} from '@model-gateway/kernel';
import { answerRefused, upstreamFailed } from '../../errors/upstream-error.ts';
import { createAnswerLimits } from './answer-limits.ts';
import {
  COUNTED_BYTES_MIN,
  keepUntilSent,
  takeWithin,
  type AnswerMemory,
  type AnswerShare,
} from './answer-memory.ts';

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

/** The limits of an answer that is read whole. */
interface AnswerOptions {
  readonly bytesMax: number;
  readonly memory: AnswerMemory | undefined;
  /** The signal of the call. */
  readonly signal: Cancel;
}

/** Reads a JSON response; one that is too large, truncated or not JSON is a failure of the upstream. */
export async function readJsonAnswer(
  body: AsyncIterable<Uint8Array>,
  options: AnswerOptions,
): Promise<unknown> {
  return readJson(await readTextAnswer(body, options));
}

/** Reads a response; one that is too large, or would take long to parse, is refused while it arrives. */
export async function readTextAnswer(
  body: AsyncIterable<Uint8Array>,
  { bytesMax, memory, signal }: AnswerOptions,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  let share: AnswerShare | undefined;
  const limits = createAnswerLimits(bytesMax);
  try {
    for await (const chunk of body) {
      if (size === 0) signal.onFirstByte?.();
      const refused = limits.add(chunk);
      if (refused !== undefined) throw refused;
      chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
      size += chunk.length;
      if (size > COUNTED_BYTES_MIN && memory !== undefined)
        share ??= await takeWithin(memory, bytesMax, signal);
    }
  } catch (error) {
    share?.release();
    throw error;
  }
  share?.shrink(size);
  if (share !== undefined) keepUntilSent(share, signal);
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
