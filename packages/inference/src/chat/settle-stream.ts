import { estimateTokens } from '@model-gateway/billing';
import type { TokenUsage } from '@model-gateway/contracts';
import type { Route } from '@model-gateway/router';
import type { ChatDependencies } from './chat-turn.ts';
import { boundedUsage } from '../usage/bounded-usage.ts';
import { estimatePrompt, estimateUsage } from '../usage/estimate-usage.ts';
import type { PreparedTurn } from './prepare-turn.ts';
import { servedStatus } from '../usage/served-status.ts';
import { settleTurn } from './settle-turn.ts';
import type { StreamObserver } from '../stream/stream-observer.ts';

interface StreamOutcome {
  readonly observer: StreamObserver;
  /** The model that answered, as its backend lists it, and the backend. */
  readonly route: Pick<Route, 'model' | 'backend'>;
  /** When the first chunk arrived, by `performance.now()`; undefined if none did. */
  readonly firstTokenAt: number | undefined;
  readonly isComplete: boolean;
}

/** The billed usage and stored reply of a stream. */
export interface SettledStream {
  /** Undefined without text or usage: nothing billable was served. */
  readonly usage: TokenUsage | undefined;
  readonly messageId: string | undefined;
}

/** Ends a streamed turn by the observed part of its stream. */
export async function settleStream(
  turn: PreparedTurn,
  dependencies: Pick<ChatDependencies, 'meter' | 'memory'>,
  { observer, route: { model, backend }, firstTokenAt, isComplete }: StreamOutcome,
): Promise<SettledStream> {
  const unbounded = billedUsage(turn, observer, isComplete);
  const usage =
    unbounded &&
    boundedUsage(backend.kind, unbounded, () => estimateUsage(turn.full, observer.text));
  const readReply = () => observer.readReply();
  const messageId = await settleTurn(turn, dependencies, {
    model,
    usage,
    upstream: backend.name,
    status: servedStatus(isComplete, turn.signal),
    firstTokenAt,
    cachedTokens: observer.cachedTokens,
    isComplete,
    readReply,
  });
  return { usage, messageId };
}

/** The reported usage, and an estimate of what the upstream has not reported. */
function billedUsage(
  { full, signal }: PreparedTurn,
  { usage, text, unreportedText }: StreamObserver,
  isComplete: boolean,
): TokenUsage | undefined {
  if (usage === undefined) {
    // A client that leaves before the first text has still used the prompt. Without text an upstream that failed served nothing.
    const wasLeft = !isComplete && signal.aborted;
    return text === '' && !wasLeft ? undefined : estimateUsage(full, text);
  }
  if (isComplete && unreportedText === '') return usage;
  // An upstream that reports the usage while it generates may begin with zeros.
  const prompt_tokens = usage.prompt_tokens === 0 ? estimatePrompt(full) : usage.prompt_tokens;
  const completion_tokens =
    usage.completion_tokens === 0
      ? estimateTokens(text)
      : usage.completion_tokens + estimateTokens(unreportedText);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
