import type { Entries } from '@model-gateway/kernel';

/** The backend that a conversation is bound to. */
export interface Affinity {
  /** Binds a conversation that is not bound yet; returns its backend. */
  claim(conversationId: string, name: string): Promise<string>;
  /** Binds the conversation for another day and replaces an earlier binding. */
  bind(conversationId: string, name: string): Promise<void>;
}

const BOUND_FOR_MS = 24 * 60 * 60 * 1000;
const TIMES = { expiresAfterMs: BOUND_FOR_MS };

/** Each process has its own entries while their store is unavailable: then a conversation can change its backend. */
export function createAffinity(entries: Entries): Affinity {
  const keyOf = (conversationId: string): string => `affinity:${conversationId}`;
  return {
    claim: (conversationId, name) => entries.putIfAbsent(keyOf(conversationId), name, TIMES),
    bind: (conversationId, name) => entries.put(keyOf(conversationId), name, TIMES),
  };
}
