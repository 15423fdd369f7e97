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

/** Something that is said in a conversation, before it is kept. */
export interface NewMessage {
  readonly role: string;
  /** What it says in words. */
  readonly content: string;
  readonly images?: readonly unknown[];
  readonly toolCalls?: readonly unknown[];
  /** The model that said it. */
  readonly model?: string;
  /** What else a model has to be given with it; shown to nobody. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** How much of what was said is given to a model: the newest messages, as far as both limits allow. */
export interface HistoryLimits {
  readonly messagesMax: number;
  /** Of what they take in the store. */
  readonly bytesMax: number;
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
  /** What was said, oldest first; undefined when it is not there. */
  history(
    userId: string,
    id: string,
    limits: HistoryLimits,
  ): Promise<readonly NewMessage[] | undefined>;
  /**
   * Adds what is said in one turn, after every earlier turn. A conversation that has no title of its own yet is given
   * this one. Answers the turn; undefined when the conversation is gone.
   */
  addTurn(id: string, messages: readonly NewMessage[], title?: string): Promise<string | undefined>;
  /** Adds to a turn: after what it has, before every later turn. Answers the id; undefined when the conversation is gone. */
  addToTurn(id: string, turn: string, message: NewMessage): Promise<string | undefined>;
  /** Whose it is; undefined when there is none. */
  ownerOf(id: string): Promise<string | undefined>;
  /** False when it is not there. */
  remove(userId: string, id: string): Promise<boolean>;
}
