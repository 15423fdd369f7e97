import type { TokenUsage } from '@model-gateway/contracts';
import { settle, type AnsweredBy, type Observed } from '../call/settle.ts';
import { streamOutcome, type StreamObserver } from '../stream/stream-observer.ts';
import { estimatePrompt, estimateUsage } from '../usage/estimate-usage.ts';
import { endingOf, type CallEnding } from '../usage/served-status.ts';
import { streamUsage } from '../usage/stream-usage.ts';
import { settledCall, type ChatDependencies } from './chat-turn.ts';
import type { Reply } from './history/reply-collector.ts';
import type { PreparedTurn } from './prepare-turn.ts';

/** How a turn ended. */
interface EndedTurn {
  readonly answered: AnsweredBy;
  readonly observed: Observed;
  readonly ending: CallEnding;
  /** The reply so far; computed only if it is needed. */
  readonly readReply: () => Reply;
}

/** The billed usage and stored reply of a turn. */
export interface SettledTurn {
  /** Undefined without text or usage: nothing billable was served. */
  readonly usage: TokenUsage | undefined;
  /** The id of the reply in its conversation. */
  readonly messageId: string | undefined;
}

/** Ends a turn, complete or not: settles it, stores the reply, and writes a completed turn to memory in the background. */
export async function settleTurn(
  turn: PreparedTurn,
  { meter, memory }: Pick<ChatDependencies, 'meter' | 'memory'>,
  { answered, observed, ending, readReply }: EndedTurn,
): Promise<SettledTurn> {
  const { record } = turn;
  const settling = settle(settledCall(turn), answered, observed, ending, meter);
  const messageId =
    record === undefined ? undefined : await record.end(readReply(), answered.lease.model);
  const usage = await settling;
  if (ending === 'complete' && turn.memory !== 'disabled') remember(turn, memory, readReply());
  return { usage, messageId };
}

/** Ends a streamed turn by the observed part of its stream. */
export function settleStream(
  turn: PreparedTurn,
  dependencies: Pick<ChatDependencies, 'meter' | 'memory'>,
  { observer, answered, firstTokenAt, isComplete }: EndedStream,
): Promise<SettledTurn> {
  const { cachedTokens, cacheWriteTokens, mediaTokens } = observer;
  const usage = streamUsage(observer, {
    isComplete,
    wasLeft: !isComplete && turn.signal.aborted,
    promptTokens: () => estimatePrompt(turn.full),
  });
  const observed = {
    usage,
    unitsOf: () => ({ cachedTokens, cacheWriteTokens, mediaTokens }),
    estimate: () => estimateUsage(turn.full, observer.text),
    firstTokenAt,
    outcome: () => streamOutcome(observer),
  };
  const ending = endingOf(isComplete, turn.signal);
  return settleTurn(turn, dependencies, {
    answered,
    observed,
    ending,
    readReply: () => observer.readReply(),
  });
}

interface EndedStream {
  readonly observer: StreamObserver;
  readonly answered: AnsweredBy;
  /** When the first chunk arrived, by `performance.now()`; undefined if none did. */
  readonly firstTokenAt: number | undefined;
  readonly isComplete: boolean;
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
