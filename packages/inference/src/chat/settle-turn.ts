import type { TokenUsage } from '@model-gateway/contracts';
import type { Observed } from '../call/settle.ts';
import { type StreamObserver, streamOutcome } from '../stream/stream-observer.ts';
import type { ActiveAttempt } from '../upstream/attempts.ts';
import { estimatePrompt, estimateUsage } from '../usage/estimate-usage.ts';
import { type CallEnding, endingOf } from '../usage/served-status.ts';
import { NO_REPLY, type Reply } from './history/reply-collector.ts';
import type { ChatTurn } from './chat-turn.ts';
import { estimateTokens } from '@model-gateway/billing';

/** How a turn ended. */
interface EndedTurn {
  readonly answered: ActiveAttempt;
  readonly observed: Observed;
  readonly ending: CallEnding;
  /** The reply so far; computed only if it is needed. */
  readonly reply: () => Reply;
}

/** The billed usage and stored reply of a turn. */
export interface SettledTurn {
  /** Undefined without text or usage: nothing billable was served. */
  readonly usage: TokenUsage | undefined;
  /** The id of the reply in its conversation. */
  readonly messageId: string | undefined;
}

/** Ends a turn, complete or not: settles it, and tells the hooks. */
export async function settleTurn(
  turn: ChatTurn,
  { answered, observed, ending, reply }: EndedTurn,
): Promise<SettledTurn> {
  const settling = turn.call.settle(answered, observed, ending);
  const messageId = turn.keepsReply
    ? await turn.ended({ reply, model: answered.lease.model, ending })
    : undefined;
  return { usage: await settling, messageId };
}

interface EndedStream {
  readonly observer: StreamObserver;
  readonly answered: ActiveAttempt;
  /** When the first chunk arrived, by `performance.now()`; undefined if none did. */
  readonly firstTokenAt: number | undefined;
  readonly isComplete: boolean;
  /** Whether a window broke it off. */
  readonly isRefused: boolean;
}

/** Ends a streamed turn by the observed part of its stream. */
export function settleStream(
  turn: ChatTurn,
  { observer, answered, firstTokenAt, isComplete, isRefused }: EndedStream,
): Promise<SettledTurn> {
  const { signal } = turn.call;
  const { cachedTokens, cacheWriteTokens, mediaTokens } = observer;
  const usage = streamUsage(observer, {
    isComplete,
    wasLeft: !isComplete && signal.aborted,
    promptTokens: () => estimatePrompt(turn.full),
  });
  const observed = {
    usage,
    unitsOf: () => ({ cachedTokens, cacheWriteTokens, mediaTokens }),
    estimate: () => estimateUsage(turn.full, observer.text),
    firstTokenAt,
    outcome: () => streamOutcome(observer),
  };
  const ending = isRefused ? 'refused' : endingOf(isComplete, signal);
  const reply = (): Reply => (isRefused ? NO_REPLY : observer.readReply());
  return settleTurn(turn, { answered, observed, ending, reply });
}

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
