import type { TokenUsage } from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';
import type { RealtimeEvent } from '@model-gateway/router';
import { property } from '../stream/chunk-fields.ts';

/** The tokens of a response that `response.done` ends; zero if the upstream reports none. */
export function realtimeUsage(event: RealtimeEvent): TokenUsage {
  const usage = property(event['response'], 'usage');
  const prompt_tokens = sideOf(usage, 'input') ?? 0;
  const rest = Math.max(0, (countOf(usage, 'total_tokens') ?? 0) - prompt_tokens);
  const completion_tokens = sideOf(usage, 'output') ?? rest;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** The part of the prompt that the upstream read from its cache, if it reports that. */
export function realtimeCachedTokens(event: RealtimeEvent): number | undefined {
  const usage = property(event['response'], 'usage');
  const details = property(usage, 'input_token_details') ?? property(usage, 'input_tokens_details');
  return countOf(details, 'cached_tokens');
}

/** Input or output tokens: the upstream's sum, or the sum of the kinds, under the older or the current name. */
function sideOf(usage: unknown, side: 'input' | 'output'): number | undefined {
  const details =
    property(usage, `${side}_tokens_details`) ?? property(usage, `${side}_token_details`);
  return countOf(usage, `${side}_tokens`) ?? sumOf(details);
}

// Cached tokens are already included in the others.
const TOKEN_KINDS = ['text_tokens', 'audio_tokens', 'image_tokens'];

function sumOf(details: unknown): number | undefined {
  const counts = TOKEN_KINDS.flatMap((kind) => countOf(details, kind) ?? []);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

/** A number of tokens; an invalid value counts as missing. */
function countOf(value: unknown, name: string): number | undefined {
  const count = numberOf(property(value, name));
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
