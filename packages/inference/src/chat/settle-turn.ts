import type { PricedBackend } from '@model-gateway/billing';
import type { MediaTokens, TokenUsage } from '@model-gateway/contracts';
import type { ChatDependencies } from './chat-turn.ts';
import type { PreparedTurn } from './prepare-turn.ts';
import type { Reply } from './history/reply-collector.ts';
import { endOf } from '../usage/served-status.ts';

/** The result of a turn. */
export interface TurnOutcome {
  /** The model that answered, as its backend lists it. */
  readonly model: string;
  /** The usage to bill; undefined when nothing billable was served. */
  readonly usage: TokenUsage | undefined;
  /** The backend that answered. */
  readonly upstream: PricedBackend;
  /** As an HTTP status. */
  readonly status: number;
  /** When the first chunk arrived, by `performance.now()`; undefined if the response is not streamed. */
  readonly firstTokenAt?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly mediaTokens?: MediaTokens | undefined;
  /** Whether the response is complete. */
  readonly isComplete: boolean;
  /** The reply so far; computed only if it is needed. */
  readonly readReply: () => Reply;
}

/**
 * Ends a turn, complete or not: stores the reply, meters the usage, and writes a completed turn to memory in the background.
 * Returns the id of the reply in its conversation.
 */
export async function settleTurn(
  turn: PreparedTurn,
  { meter, memory }: Pick<ChatDependencies, 'meter' | 'memory'>,
  outcome: TurnOutcome,
): Promise<string | undefined> {
  const { caller, surface, refId, startedAt, reservation, record, trace } = turn;
  const { model, usage, isComplete, readReply } = outcome;
  const { upstream, status, firstTokenAt, cachedTokens, cacheWriteTokens, mediaTokens } = outcome;
  const metered =
    usage === undefined
      ? noteFailure(turn, meter, outcome)
      : meter.record({
          caller,
          model,
          surface,
          usage,
          refId,
          reservation,
          upstream,
          status,
          startedAt,
          firstTokenAt,
          cachedTokens,
          trace,
          cacheWriteTokens,
          mediaTokens,
        });
  const messageId = record === undefined ? undefined : await record.end(readReply(), model);
  if (metered !== undefined) await metered;
  if (isComplete && turn.memory !== 'disabled') remember(turn, memory, readReply());
  return messageId;
}

/** A response that ended before anything of it can be billed. */
function noteFailure(
  { caller, surface, request, refId, startedAt, trace }: PreparedTurn,
  meter: ChatDependencies['meter'],
  { status, isComplete }: TurnOutcome,
): undefined {
  if (isComplete) return;
  const { model } = request;
  meter.failed({ caller, surface, model, refId, startedAt, trace, status, ...endOf(status) });
}

/** The last message of the user and the reply; earlier messages were written in their own turns. */
function remember(
  { caller, request }: PreparedTurn,
  memory: ChatDependencies['memory'],
  { content }: Reply,
): void {
  const last = request.messages.findLast(({ role }) => role === 'user');
  if (last === undefined || content === '') return;
  memory.writeBack(caller.userId, [last, { role: 'assistant', content }]);
}
