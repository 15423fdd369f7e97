/** Something that the memory service remembers about a user. */
export interface MemoryNode {
  readonly nodeId: string;
  readonly text: string;
}

/** A message as the memory service is told it. */
export interface RememberedMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The external memory service. Every call settles within its time-out, and rejects when the service cannot be asked. */
export interface MemoryService {
  /** What has to do with the query, the closest first. */
  recall(userId: string, query: string, countMax: number): Promise<readonly MemoryNode[]>;
  /** Answers the ids of what it made of the messages. */
  write(userId: string, messages: readonly RememberedMessage[]): Promise<readonly string[]>;
  /** False when the user has no such node. */
  delete(userId: string, nodeId: string): Promise<boolean>;
  close(): void;
}
