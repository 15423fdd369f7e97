import type { TokenUsage } from '@model-gateway/contracts';
import type { KindFacts } from '@model-gateway/router';

/** More tokens than any tokenizer makes of a text, as a multiple of its estimate. */
const ESTIMATES_MAX = 4;

/**
 * The reported usage; of a GPU node at most what the texts can be. Its owner chooses what it reports, and others pay for it.
 */
export function boundedUsage(
  facts: KindFacts | undefined,
  reported: TokenUsage,
  estimate: () => TokenUsage,
): TokenUsage {
  if (facts?.isBounded !== true) return reported;
  const estimated = estimate();
  const prompt_tokens = boundedCount(reported.prompt_tokens, estimated.prompt_tokens);
  const completion_tokens = boundedCount(reported.completion_tokens, estimated.completion_tokens);
  const isWithin =
    prompt_tokens === reported.prompt_tokens && completion_tokens === reported.completion_tokens;
  return isWithin
    ? reported
    : { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** What a GPU node reports, at most what the estimate allows. */
export const boundedCount = (reported: number, estimated: number): number =>
  Math.min(reported, estimated * ESTIMATES_MAX);
