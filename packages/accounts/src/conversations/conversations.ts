import { ServiceError } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { Conversation, ConversationMessage, ConversationStore } from './conversation-store.ts';

/** What people talked about with models. One's own only: anybody else's is as good as unknown. */
export interface Conversations {
  /** The most recently used first; of very many the newest. */
  list(userId: string): Promise<readonly Conversation[]>;
  create(userId: string, title: string): Promise<Conversation>;
  /** With its messages in order; of very many the newest. */
  get(
    userId: string,
    id: string,
  ): Promise<{
    readonly conversation: Conversation;
    readonly messages: readonly ConversationMessage[];
  }>;
  remove(userId: string, id: string): Promise<void>;
}

const LISTED_MAX = 1_000;
const MESSAGES_MAX = 1_000;

export function createConversations(store: ConversationStore): Conversations {
  return {
    list: (userId) => store.list(userId, LISTED_MAX),
    create: (userId, title) => store.create({ id: newId(), userId, title }),
    async get(userId, id) {
      const found = await store.find(userId, id, MESSAGES_MAX);
      if (found === undefined) throw notFound();
      return found;
    },
    async remove(userId, id) {
      if (!(await store.remove(userId, id))) throw notFound();
    },
  };
}

const notFound = (): ServiceError => new ServiceError('not_found', 'conversation not found');
