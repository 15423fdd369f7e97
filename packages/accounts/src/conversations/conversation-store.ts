/** A conversation without its messages. */
export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly messageCount: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** One message of a conversation. */
export interface ConversationMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  /** Absent if there are none, like the three below. */
  readonly images?: readonly unknown[];
  readonly toolCalls?: readonly unknown[];
  readonly model?: string;
  readonly createdAt: Date;
  /** It is larger than a page: only the beginning of its text was read. */
  readonly isTruncated?: boolean;
}

/** A message that is not stored yet. */
export interface NewMessage {
  readonly role: string;
  readonly content: string;
  readonly images?: readonly unknown[];
  readonly toolCalls?: readonly unknown[];
  /** The model that wrote it. */
  readonly model?: string;
  /** Other fields for the model; not shown to users. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** How much history a model gets: the newest messages within both limits. */
export interface HistoryLimits {
  readonly messagesMax: number;
  /** Of text and JSON, uncompressed. */
  readonly bytesMax: number;
}

/** Which messages a model gets, and how large they are together. */
export interface HistorySize {
  readonly messageIds: readonly string[];
  readonly bytes: number;
}

/** How many bytes a user has stored, uncompressed. */
export interface StoredBytes {
  readonly conversations: number;
  readonly responses: number;
}

/** Who owns a conversation. */
export interface ConversationOwner {
  readonly userId: string;
  /** All that this user has stored. */
  readonly storedBytes: StoredBytes;
}

/** Which messages of a conversation to read: the newest, or the newest before one of its messages. */
export interface MessagePageQuery {
  readonly before?: string | undefined;
  readonly messagesMax: number;
  /** Of text and JSON, uncompressed; a message that is larger is a page of its own. */
  readonly bytesMax: number;
  /** Of a message that is larger than this only the beginning of its text is read. */
  readonly messageBytesMax: number;
}

/** A page of the conversations: the first ones, or those that follow one of them. */
export interface ConversationListQuery {
  readonly before?: string | undefined;
  readonly countMax: number;
}

/** A conversation with a page of its messages, oldest first. */
export interface ConversationPage {
  readonly conversation: Conversation;
  readonly messages: readonly ConversationMessage[];
  /** There are older messages. */
  readonly hasMore: boolean;
}

/** Stores conversations. Those of other users are not found. */
export interface ConversationStore {
  /** Rejects when the user has as many as `countMax`, also of concurrent calls. */
  create(
    conversation: { readonly id: string; readonly userId: string; readonly title: string },
    countMax?: number,
  ): Promise<Conversation>;
  /** The most recently used first. */
  list(userId: string, page: ConversationListQuery): Promise<readonly Conversation[]>;
  /** With a page of its messages. */
  find(userId: string, id: string, page: MessagePageQuery): Promise<ConversationPage | undefined>;
  /** The newest messages of a conversation within the limits, without reading them. */
  historySize(id: string, limits: HistoryLimits): Promise<HistorySize>;
  /** These messages of a conversation, oldest first. */
  history(id: string, messageIds: readonly string[]): Promise<readonly NewMessage[]>;
  /**
   * Adds the messages of one turn, after every earlier turn. A conversation without a title gets this one. Returns the turn;
   * undefined when the conversation was deleted.
   */
  addTurn(id: string, messages: readonly NewMessage[], title?: string): Promise<string | undefined>;
  /** Appends to a turn, before every later turn. Returns the id; undefined when the conversation was deleted. */
  addToTurn(id: string, turn: string, message: NewMessage): Promise<string | undefined>;
  /** The owner; undefined when there is no such conversation. */
  ownerOf(id: string): Promise<ConversationOwner | undefined>;
  /** False when there is no such conversation. */
  remove(userId: string, id: string): Promise<boolean>;
}
