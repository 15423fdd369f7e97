import type { TokenUsage } from '@model-gateway/contracts';
import type { ChatDependencies } from './chat-turn.ts';
import type { PreparedTurn } from './prepare-turn.ts';
import type { Reply } from './reply-collector.ts';

/** What a turn came to. */
export interface TurnOutcome {
  /** The model that answered, as its backend lists it. */
  readonly model: string;
  /** What is billed; undefined when nothing was served that could be. */
  readonly usage: TokenUsage | undefined;
  /** Whether the answer came to its end. */
  readonly isComplete: boolean;
  /** What was said, as far as it came; asked for only where somebody needs it. */
  readonly readReply: () => Reply;
}

/**
 * Ends a turn, well or badly: the reply is written down, the usage is metered, and a completed turn is remembered in the
 * background. Answers the id of the reply in its conversation.
 */
export async function settleTurn(
  turn: PreparedTurn,
  { meter, memory }: Pick<ChatDependencies, 'meter' | 'memory'>,
  { model, usage, isComplete, readReply }: TurnOutcome,
): Promise<string | undefined> {
  const { caller, surface, refId, record } = turn;
  const metered =
    usage === undefined ? undefined : meter.record({ caller, model, surface, usage, refId });
  const messageId = record === undefined ? undefined : await record.end(readReply(), model);
  if (metered !== undefined) await metered;
  if (isComplete && turn.memory !== 'disabled') remember(turn, memory, readReply());
  return messageId;
}

/** What the user said last and the reply: what came before was remembered when it was said. */
function remember(
  { caller, request }: PreparedTurn,
  memory: ChatDependencies['memory'],
  { content }: Reply,
): void {
  const last = request.messages.findLast(({ role }) => role === 'user');
  if (last === undefined || content === '') return;
  memory.writeBack(caller.userId, [last, { role: 'assistant', content }]);
}
