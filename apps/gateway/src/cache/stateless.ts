import type { IncomingMessage } from 'node:http';

/** What a request says about state besides its own text. */
export interface StatefulFields {
  readonly conversation_id?: unknown;
  readonly memory?: unknown;
  /** Whether the client asks to store the answer. */
  readonly store?: unknown;
  /** Whether it continues or names what was stored earlier. */
  readonly continues?: boolean;
}

/** Whether the answer depends on more than the request, or is to have an effect: such a request is not cached. */
export function isStateful(
  { headers }: IncomingMessage,
  { conversation_id, memory, store, continues = false }: StatefulFields,
  hasMemory: boolean,
): boolean {
  return (
    continues ||
    store === true ||
    (conversation_id ?? undefined) !== undefined ||
    (hasMemory && memory !== false) ||
    headers['x-session-id'] !== undefined
  );
}
