/** One memory of a user. */
export interface MemoryNode {
  readonly nodeId: string;
  readonly text: string;
}

/** A message as it is sent to the memory service. */
export interface RememberedMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The external memory service. Every call settles within its timeout, and rejects when the service is unavailable. */
export interface MemoryService {
  /** The memories that match the query, the closest first. */
  recall(userId: string, query: string, countMax: number): Promise<readonly MemoryNode[]>;
  /** Returns the ids of the new memories. */
  write(userId: string, messages: readonly RememberedMessage[]): Promise<readonly string[]>;
  /** False when the user has no such node. */
  delete(userId: string, nodeId: string): Promise<boolean>;
  close(): void;
}
