/** A conversation, without what was said. */
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
  /** Absent where there are none, as the three below. */
  readonly images?: readonly unknown[];
  readonly toolCalls?: readonly unknown[];
  readonly model?: string;
  readonly createdAt: Date;
}

/** Where conversations are kept. Nobody reaches another person's: to them it is not there. */
export interface ConversationStore {
  create(conversation: {
    readonly id: string;
    readonly userId: string;
    readonly title: string;
  }): Promise<Conversation>;
  /** The most recently used first. */
  list(userId: string, countMax: number): Promise<readonly Conversation[]>;
  /** With its newest messages, oldest first. */
  find(
    userId: string,
    id: string,
    messagesMax: number,
  ): Promise<
    | { readonly conversation: Conversation; readonly messages: readonly ConversationMessage[] }
    | undefined
  >;
  /** Whose it is; undefined when there is none. */
  ownerOf(id: string): Promise<string | undefined>;
  /** False when it is not there. */
  remove(userId: string, id: string): Promise<boolean>;
}
