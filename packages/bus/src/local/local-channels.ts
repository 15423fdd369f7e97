import type { Channels, Log } from '@model-gateway/kernel';
import { createListeners } from './listeners.ts';

/** Channels inside one process. */
export interface LocalChannels extends Channels {
  /** The number of local listeners of a channel. */
  count(channel: string): number;
}

export function createLocalChannels({ log }: { readonly log: Log }): LocalChannels {
  const listeners = createListeners(log);
  return {
    publish: (channel, message) => Promise.resolve(listeners.deliver(channel, message)),
    subscribe(channel, onMessage) {
      const remove = listeners.add(channel, onMessage);
      return Promise.resolve({
        close: () => {
          remove();
          return Promise.resolve();
        },
      });
    },
    count: (channel) => listeners.count(channel),
  };
}
