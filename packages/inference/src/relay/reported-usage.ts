import {
  readMediaTokens,
  readCachedTokens,
  readCacheWriteTokens,
  readUsage,
  type TokenUsage,
} from '@model-gateway/contracts';
import { property } from '../stream/chunk-fields.ts';
import type { ReportedUnits } from './billed-units.ts';
import type { RelayedOperation } from './operations.ts';

/**
 * The tokens that an answer or an event reports, in any of the forms of the relayed APIs. A usage in seconds has no tokens.
 * Undefined if nothing is reported.
 */
export function reportedUsage(answer: unknown): TokenUsage | undefined {
  const usage = property(answer, 'usage');
  const meta = property(answer, 'meta');
  return (
    readUsage(usage) ??
    inputAndOutput(usage) ??
    inAll(usage) ??
    inSeconds(usage) ??
    inputAndOutput(property(meta, 'tokens')) ??
    inputAndOutput(property(meta, 'billed_units'))
  );
}

/** What a JSON answer has that is not priced by its tokens; of a large answer the images were counted. */
export function reportedUnits(
  { capability }: RelayedOperation,
  answer: unknown,
  countedImages?: number,
): ReportedUnits {
  const images = property(answer, 'data');
  const usage = property(answer, 'usage');
  return {
    images:
      capability === 'images'
        ? (countedImages ?? (Array.isArray(images) ? images.length : undefined))
        : undefined,
    audioSeconds: reportedSeconds(answer),
    cachedTokens: readCachedTokens(usage),
    cacheWriteTokens: readCacheWriteTokens(usage),
    mediaTokens: readMediaTokens(usage),
  };
}

/** The length of the audio: of the usage, or of a detailed transcription. */
export function reportedSeconds(answer: unknown): number | undefined {
  const usage = property(answer, 'usage');
  const seconds = property(usage, 'seconds') ?? property(answer, 'duration');
  return typeof seconds === 'number' && seconds >= 0 && seconds < Infinity ? seconds : undefined;
}

function inputAndOutput(counts: unknown): TokenUsage | undefined {
  const input = countOf(property(counts, 'input_tokens'));
  const output = countOf(property(counts, 'output_tokens'));
  return input === undefined && output === undefined
    ? undefined
    : tokenUsage(input ?? 0, output ?? 0);
}

/** Rerankers generate nothing, and report only the sum. */
function inAll(usage: unknown): TokenUsage | undefined {
  const total = countOf(property(usage, 'total_tokens'));
  return total === undefined ? undefined : tokenUsage(total, 0);
}

const inSeconds = (usage: unknown): TokenUsage | undefined =>
  property(usage, 'type') === 'duration' ? tokenUsage(0, 0) : undefined;

/** The usage of a number of tokens. */
export const tokenUsage = (prompt_tokens: number, completion_tokens: number): TokenUsage => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
