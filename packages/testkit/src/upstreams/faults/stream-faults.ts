import type { Answer } from '@model-gateway/demo-model/answers';
import { faultOf } from './fault-plan.ts';
import type { HttpFault } from './http-faults.ts';

/** Faults of a streamed response; `afterChunks` counts every chunk, including the first. */
export type StreamFault =
  /** Waits between chunks. */
  | { readonly kind: 'slow-chunks'; readonly delayMs: number }
  /** Destroys the connection; a response that is not streamed is cut in its middle. */
  | { readonly kind: 'cut'; readonly afterChunks: number }
  /** Stops sending and keeps the connection open. */
  | { readonly kind: 'stall'; readonly afterChunks: number }
  /** Sends one line that is not a valid chunk, then continues. */
  | { readonly kind: 'garbage-line'; readonly afterChunks?: number }
  /** Reports a failure inside the stream and ends it. */
  | { readonly kind: 'error-chunk'; readonly afterChunks?: number; readonly message?: string }
  /** Ends the stream without its end marker. */
  | { readonly kind: 'no-done' }
  /** Sends one chunk of several megabytes. */
  | { readonly kind: 'huge-chunk'; readonly bytes?: number }
  /** Adds characters of several bytes and splits them over two writes. */
  | { readonly kind: 'split-utf8' }
  /** Sends no usage. */
  | { readonly kind: 'no-usage' }
  /** Responds without any token. */
  | { readonly kind: 'no-tokens' };

/** The faults of a chat API. */
export type ChatFault = HttpFault | StreamFault;

const HUGE_CHUNK_BYTES = 5 * 1024 * 1024;
const WIDE_TOKENS = [' Grüße', ' aus', ' 世', '界', ' 👋🏽'];

/** The answer with the faults applied: empty, or with a huge or a multi-byte token. */
export function applyStreamFaults(answer: Answer, faults: readonly ChatFault[]): Answer {
  if (faultOf(faults, 'no-tokens') !== undefined)
    return { ...answer, reasoning: [], tokens: [], toolCalls: [] };
  const huge = faultOf(faults, 'huge-chunk');
  const wide = faultOf(faults, 'split-utf8');
  if (huge === undefined && wide === undefined) return answer;
  const tokens = [...answer.tokens];
  if (wide !== undefined) tokens.push(...WIDE_TOKENS);
  if (huge !== undefined) tokens.push(` ${'x'.repeat((huge.bytes ?? HUGE_CHUNK_BYTES) - 1)}`);
  return { ...answer, tokens };
}
