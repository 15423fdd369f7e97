import type { Log } from '@model-gateway/kernel';

type OnMessage = (message: string) => void;

/** The local listeners of each channel. */
export interface Listeners {
  /** The returned function removes the listener; calling it twice is harmless. */
  add(channel: string, onMessage: OnMessage): () => void;
  count(channel: string): number;
  channels(): string[];
  /** Queues a message for the current listeners of a channel and returns their number. */
  deliver(channel: string, message: string): number;
}

interface Delivery {
  readonly channel: string;
  readonly message: string;
  readonly to: readonly { readonly onMessage: OnMessage; isRemoved: boolean }[];
}

/** Deliveries wait in one queue that is emptied in a microtask, so that messages stay in order when a listener publishes. */
export function createListeners(log: Log): Listeners {
  const byChannel = new Map<string, Set<{ readonly onMessage: OnMessage; isRemoved: boolean }>>();
  let queue: Delivery[] = [];

  function deliverQueued(): void {
    // Messages that arrive meanwhile are appended to the same queue and delivered in this loop.
    for (const { channel, message, to } of queue) {
      for (const listener of to) {
        if (listener.isRemoved) continue;
        try {
          listener.onMessage(message);
        } catch (error) {
          log.error({ channel, error }, 'a channel listener failed');
        }
      }
    }
    queue = [];
  }

  return {
    add(channel, onMessage) {
      const listener = { onMessage, isRemoved: false };
      const listeners = byChannel.get(channel) ?? new Set();
      byChannel.set(channel, listeners.add(listener));
      return () => {
        listener.isRemoved = true;
        if (listeners.delete(listener) && listeners.size === 0) byChannel.delete(channel);
      };
    },
    count: (channel) => byChannel.get(channel)?.size ?? 0,
    channels: () => [...byChannel.keys()],
    deliver(channel, message) {
      const listeners = byChannel.get(channel);
      if (listeners === undefined) return 0;
      if (queue.length === 0) queueMicrotask(deliverQueued);
      queue.push({ channel, message, to: [...listeners] });
      return listeners.size;
    },
  };
}
