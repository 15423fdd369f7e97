import type { TokenUsage } from '@model-gateway/contracts';
import type { Lease } from '@model-gateway/router';
import type { ChatDependencies } from './chat-turn.ts';
import { boundedUsage } from '../usage/bounded-usage.ts';
import { estimatePrompt, estimateUsage } from '../usage/estimate-usage.ts';
import type { PreparedTurn } from './prepare-turn.ts';
import { servedStatus } from '../usage/served-status.ts';
import { streamUsage } from '../usage/stream-usage.ts';
import { settleTurn } from './settle-turn.ts';
import type { StreamObserver } from '../stream/stream-observer.ts';

interface StreamOutcome {
  readonly observer: StreamObserver;
  /** The model that answered, as its backend lists it, and the backend. */
  readonly lease: Pick<Lease, 'model' | 'backend'>;
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
  { observer, lease: { model, backend }, firstTokenAt, isComplete }: StreamOutcome,
): Promise<SettledStream> {
  const unbounded = streamUsage(observer, {
    isComplete,
    wasLeft: !isComplete && turn.signal.aborted,
    promptTokens: () => estimatePrompt(turn.full),
  });
  const usage =
    unbounded &&
    boundedUsage(backend.kind, unbounded, () => estimateUsage(turn.full, observer.text));
  const readReply = () => observer.readReply();
  const messageId = await settleTurn(turn, dependencies, {
    model,
    usage,
    upstream: backend,
    status: servedStatus(isComplete, turn.signal),
    firstTokenAt,
    cachedTokens: observer.cachedTokens,
    cacheWriteTokens: observer.cacheWriteTokens,
    mediaTokens: observer.mediaTokens,
    isComplete,
    readReply,
  });
  return { usage, messageId };
}
