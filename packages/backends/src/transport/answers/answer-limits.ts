import { createJsonMeter, METERED_BYTES_MIN, type JsonMeter } from '@model-gateway/kernel';
import type { UpstreamFailure } from '@model-gateway/router';
import { answerRefused } from '../../errors/upstream-error.ts';

/** The default of `SERVICE_UPSTREAM_ANSWER_BYTES_MAX`. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** More than a request may cost: a list of embeddings has millions of numbers, which take at most 65 MB of memory. */
export const ANSWER_COST_MAX = 8_000_000;

/** Checks a JSON answer while it arrives, so that one that cannot be held or parsed is not read to its end. */
export interface AnswerLimits {
  /** The failure if an answer with these further bytes is refused. */
  add(chunk: Uint8Array): UpstreamFailure | undefined;
}

export function createAnswerLimits(bytesMax: number): AnswerLimits {
  let size = 0;
  let early: Uint8Array[] = [];
  let meter: JsonMeter | undefined;

  function isCheap(chunk: Uint8Array): boolean {
    if (meter !== undefined) return meter.add(chunk);
    early.push(chunk);
    // Most answers are short: these are not looked at.
    if (size <= METERED_BYTES_MIN) return true;
    const started = createJsonMeter(ANSWER_COST_MAX);
    meter = started;
    const chunks = early;
    early = [];
    return chunks.every((one) => started.add(one));
  }

  return {
    add(chunk) {
      size += chunk.length;
      if (size > bytesMax) return tooLarge(bytesMax);
      return isCheap(chunk) ? undefined : tooManyValues();
    },
  };
}

/** The failure of an answer that is larger than an answer may be. */
export const tooLarge = (bytesMax: number): UpstreamFailure =>
  answerRefused(`more than ${bytesMax} bytes; SERVICE_UPSTREAM_ANSWER_BYTES_MAX sets this limit`);

const tooManyValues = (): UpstreamFailure =>
  answerRefused('with too many or too deeply nested values');
