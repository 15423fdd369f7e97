import { StringDecoder } from 'node:string_decoder';
import { yieldToEventLoop } from '../async/yield-to-event-loop.ts';

/** Takes some milliseconds, whatever the characters are. */
const STEP_BYTES = 1024 * 1024;

/** Decodes UTF-8 that arrived in chunks. Between the steps of a long text the process serves other requests. */
export async function decodeInSteps(chunks: readonly Buffer[]): Promise<string> {
  const decoder = new StringDecoder('utf8');
  const parts: string[] = [];
  let stepBytes = 0;
  for (const chunk of chunks) {
    parts.push(decoder.write(chunk));
    stepBytes += chunk.length;
    if (stepBytes < STEP_BYTES) continue;
    stepBytes = 0;
    await yieldToEventLoop();
  }
  parts.push(decoder.end());
  return parts.join('');
}
