/** What a call says about state besides its own text. */
export interface StatefulFields {
  readonly conversation_id?: unknown;
  readonly memory?: unknown;
  /** Whether the client asks to store the answer. */
  readonly store?: unknown;
  /** Whether it continues or names what was stored earlier. */
  readonly continues?: boolean;
}

/** Whether the answer depends on more than the call, or is to have an effect: such a call is not cached. */
export const isStateful = (
  { conversation_id, memory, store, continues = false }: StatefulFields,
  hasMemory: boolean,
): boolean =>
  continues ||
  store === true ||
  (conversation_id ?? undefined) !== undefined ||
  (hasMemory && memory !== false);
