import { estimateTokens } from '@model-gateway/billing';
import type { TokenUsage } from '@model-gateway/contracts';
import type { StreamObserver } from '../stream/stream-observer.ts';

interface StreamEnd {
  readonly isComplete: boolean;
  /** The client left before the end. */
  readonly wasLeft: boolean;
  /** An estimate. */
  readonly promptTokens: () => number;
}

const NOTHING: TokenUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/**
 * The usage of a stream to bill: what was reported, and an estimate of what the upstream has not reported. Undefined when
 * nothing billable was served.
 */
export function streamUsage(
  { usage, text, unreportedText }: Pick<StreamObserver, 'usage' | 'text' | 'unreportedText'>,
  { isComplete, wasLeft, promptTokens }: StreamEnd,
): TokenUsage | undefined {
  if (usage !== undefined && isComplete && unreportedText === '') return usage;
  // An upstream that reports the usage while it generates may begin with zeros.
  const { prompt_tokens: prompt, completion_tokens: completion } = usage ?? NOTHING;
  const completionTokens =
    completion === 0 ? estimateTokens(text) : completion + estimateTokens(unreportedText);
  // A client that leaves before the first text has still used the prompt. Without text an upstream that failed served nothing.
  if (completionTokens === 0 && !wasLeft) return undefined;
  return sumOf(prompt === 0 ? promptTokens() : prompt, completionTokens);
}

const sumOf = (prompt_tokens: number, completion_tokens: number): TokenUsage => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});
