import {
  hasTooManyNumbers,
  isCheapJson,
  isNestedTooDeeply,
  tryParseExactJson,
  tryParseJson,
  type ByteShare,
} from '@model-gateway/kernel';
import type { AnswerWatch } from '@model-gateway/router';
import { answerRefused, unreadableAnswer } from '../../errors/upstream-error.ts';
import { createAnswerLimits, tooLarge } from './answer-limits.ts';
import {
  COUNTED_BYTES_MIN,
  keepUntilSent,
  takeWithin,
  type AnswerMemory,
} from './answer-memory.ts';

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
  /** How long the answer is, if the upstream said it. */
  readonly length?: number | undefined;
  readonly memory: AnswerMemory | undefined;
  /** The signal of the call. */
  readonly signal: AbortSignal;
  readonly watch: AnswerWatch | undefined;
}

/** Reads a response; one that is too large, or would take long to parse, is refused while it arrives. */
export async function readTextAnswer(
  body: AsyncIterable<Uint8Array>,
  { bytesMax, length, memory, signal, watch }: AnswerOptions,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  let share: ByteShare | undefined;
  const limits = createAnswerLimits(bytesMax);
  try {
    for await (const chunk of body) {
      if (length !== undefined && length > bytesMax) throw tooLarge(bytesMax);
      if (size === 0) watch?.onFirstByte?.();
      const refused = limits.add(chunk);
      if (refused !== undefined) throw refused;
      chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
      size += chunk.length;
      if (size > COUNTED_BYTES_MIN && memory !== undefined)
        share ??= await takeWithin(memory, length ?? bytesMax, signal);
    }
  } catch (error) {
    share?.release();
    throw error;
  }
  share?.shrink(size);
  if (share !== undefined) keepUntilSent(share, watch);
  const [first] = chunks;
  const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  return whole.toString('utf8');
}

/** Parses a JSON answer whose parts are checked one by one afterwards, so that it must not have many. */
export function readSmallJson(text: string): unknown {
  if (!isCheapJson(text)) throw answerRefused('with too many values');
  return readExactJson(text);
}

/** Parses a text that must be JSON. */
export function readJson(text: string): unknown {
  const value = tryParseJson(text);
  if (value === undefined) throw unreadable(text);
  return value;
}

/** The same for an answer of which parts are passed on: its numbers keep their text, see `tryParseExactJson`. */
export function readExactJson(text: string): unknown {
  const value = tryParseExactJson(text);
  if (value === undefined)
    throw hasTooManyNumbers(text)
      ? answerRefused('with too many long or unusual numbers')
      : unreadable(text);
  return value;
}

function unreadable(text: string) {
  const problem = isNestedTooDeeply(text) ? 'nested too deeply' : 'not JSON';
  return unreadableAnswer(`the upstream response is ${problem}`);
}
