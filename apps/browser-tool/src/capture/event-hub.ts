/** The kinds of events that `/events` streams. */
export type EventKind = 'console' | 'network' | 'websocket' | 'dialog' | 'navigation' | 'crash';

export type CaptureListener = (kind: EventKind, data: object) => void;

/** Publishes what the pages do to all listeners, synchronously. */
export interface EventHub {
  publish(kind: EventKind, data: object): void;
  /** Returns a function that removes the listener. */
  listen(listener: CaptureListener): () => void;
}

/** A hub without listeners. */
export function createEventHub(): EventHub {
  const listeners = new Set<CaptureListener>();
  return {
    publish(kind, data) {
      for (const listener of listeners) listener(kind, data);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
