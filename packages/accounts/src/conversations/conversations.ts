import { ServiceError } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type {
  Conversation,
  ConversationListQuery,
  ConversationPage,
  ConversationStore,
} from './conversation-store.ts';

/** The conversations of a user. Those of other users are not found. */
export interface Conversations {
  /** The most recently used first. */
  list(userId: string, page: ConversationListQuery): Promise<readonly Conversation[]>;
  create(userId: string, title: string): Promise<Conversation>;
  /** With its newest messages in order, or those before one of them, up to a limit. */
  get(userId: string, id: string, before?: string): Promise<ConversationPage>;
  remove(userId: string, id: string): Promise<void>;
}

const CONVERSATIONS_PER_USER_MAX = 100_000;
const MESSAGES_MAX = 1_000;
/** The rest of a MiB is for the names of the fields. */
const MESSAGES_BYTES_MAX = 768 * 1024;
/** A message that is larger does not fit into an answer. */
const MESSAGE_BYTES_MAX = 1024 * 1024;

export function createConversations(store: ConversationStore): Conversations {
  return {
    list: (userId, page) => store.list(userId, page),
    create: (userId, title) =>
      store.create({ id: newId(), userId, title }, CONVERSATIONS_PER_USER_MAX),
    async get(userId, id, before) {
      const found = await store.find(userId, id, {
        before,
        messagesMax: MESSAGES_MAX,
        bytesMax: MESSAGES_BYTES_MAX,
        messageBytesMax: MESSAGE_BYTES_MAX,
      });
      if (found === undefined) throw notFound();
      return found;
    },
    async remove(userId, id) {
      if (!(await store.remove(userId, id))) throw notFound();
    },
  };
}

const notFound = (): ServiceError => new ServiceError('not_found', 'conversation not found');
