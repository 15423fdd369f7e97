import type { Entries } from '@model-gateway/kernel';

/** Which backend a conversation stays with. */
export interface Affinity {
  /** Binds a conversation that is not bound yet; answers the backend that it is bound to now. */
  claim(conversationId: string, name: string): Promise<string>;
  /** Binds the conversation, whatever it was bound to, for another day. */
  bind(conversationId: string, name: string): Promise<void>;
}

const BOUND_FOR_MS = 24 * 60 * 60 * 1000;
const TIMES = { expiresAfterMs: BOUND_FOR_MS };

/** The entries serve by themselves what this process used last while their store is away. */
export function createAffinity(entries: Entries): Affinity {
  const keyOf = (conversationId: string): string => `affinity:${conversationId}`;
  return {
    claim: (conversationId, name) => entries.putIfAbsent(keyOf(conversationId), name, TIMES),
    bind: (conversationId, name) => entries.put(keyOf(conversationId), name, TIMES),
  };
}
