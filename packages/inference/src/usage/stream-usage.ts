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

/**
 * The usage of a stream to bill: what was reported, and an estimate of what the upstream has not reported. Undefined when
 * nothing billable was served.
 */
export function streamUsage(
  { usage, text, unreportedText }: Pick<StreamObserver, 'usage' | 'text' | 'unreportedText'>,
  { isComplete, wasLeft, promptTokens }: StreamEnd,
): TokenUsage | undefined {
  if (usage === undefined) {
    // A client that leaves before the first text has still used the prompt. Without text an upstream that failed served nothing.
    return text === '' && !wasLeft ? undefined : sumOf(promptTokens(), estimateTokens(text));
  }
  if (isComplete && unreportedText === '') return usage;
  // An upstream that reports the usage while it generates may begin with zeros.
  return sumOf(
    usage.prompt_tokens === 0 ? promptTokens() : usage.prompt_tokens,
    usage.completion_tokens === 0
      ? estimateTokens(text)
      : usage.completion_tokens + estimateTokens(unreportedText),
  );
}

const sumOf = (prompt_tokens: number, completion_tokens: number): TokenUsage => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});
