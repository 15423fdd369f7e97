import {
  conversationTitle,
  type ConversationStore,
  type NewMessage,
} from '@model-gateway/accounts';
import type { ChatMessage } from '@model-gateway/contracts';
import { describeError, withTimeout, type Log } from '@model-gateway/kernel';
import { messageText } from '../message-text.ts';
import type { Reply } from './reply-collector.ts';
import { toStored, toStoredReply } from './stored-message.ts';

/** Stores one turn of a conversation. A failure is logged, and never fails or delays the turn much. */
export interface TurnRecord {
  /** Stores the new messages. Resolves when they are stored, or when that failed. */
  begin(): Promise<void>;
  /** Stores the reply after its messages. Returns the id of the reply if it was stored in time. */
  end(reply: Reply, model: string): Promise<string | undefined>;
}

interface TurnRecordOptions {
  readonly store: Pick<ConversationStore, 'addTurn' | 'addToTurn'>;
  readonly conversationId: string;
  readonly added: readonly ChatMessage[];
  readonly log: Log;
}

/** How long a turn waits for a slow store; the write itself continues. */
const PATIENCE_MS = 2_000;

export function createTurnRecord(options: TurnRecordOptions): TurnRecord {
  const { store, conversationId, added, log } = options;
  let turn: Promise<string | undefined> | undefined;

  const notWritten = (error: unknown): undefined => {
    log.warn(
      { conversation_id: conversationId, reason: describeError(error) },
      'storing a turn of a conversation failed',
    );
  };

  const beginning = (): Promise<string | undefined> => {
    turn ??= store.addTurn(conversationId, added.map(toStored), titleOf(added)).catch(notWritten);
    return turn;
  };

  async function addReply(message: NewMessage): Promise<string | undefined> {
    if (added.length === 0) {
      await store.addTurn(conversationId, [message]).catch(notWritten);
      return undefined;
    }
    const number = await beginning();
    // The conversation was deleted, or the messages could not be stored: a reply without them is not stored.
    if (number === undefined) return undefined;
    return store.addToTurn(conversationId, number, message).catch(notWritten);
  }

  return {
    async begin() {
      if (added.length === 0) return;
      await withTimeout(beginning(), PATIENCE_MS).catch(() => undefined);
    },
    async end(reply, model) {
      if (reply.content === '' && reply.toolCalls.length === 0) return undefined;
      const adding = addReply(toStoredReply(reply, model));
      return withTimeout(adding, PATIENCE_MS).catch(() => undefined);
    },
  };
}

function titleOf(added: readonly ChatMessage[]): string | undefined {
  const first = added.find(({ role }) => role === 'user');
  return first === undefined ? undefined : conversationTitle(messageText(first));
}
