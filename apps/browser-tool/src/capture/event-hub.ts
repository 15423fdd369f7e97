/** The kinds of events that `/events` tells. */
export type EventKind = 'console' | 'network' | 'websocket' | 'dialog' | 'navigation' | 'crash';

export type CaptureListener = (kind: EventKind, data: object) => void;

/** Tells whoever listens what the pages do, at once. */
export interface EventHub {
  publish(kind: EventKind, data: object): void;
  /** Answers how to stop listening. */
  listen(listener: CaptureListener): () => void;
}

/** A hub that nobody listens to yet. */
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
