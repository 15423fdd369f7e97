import type { Channels, Log } from '@model-gateway/kernel';
import { createListeners } from './listeners.ts';

/** Channels inside one process. */
export function createLocalChannels({ log }: { readonly log: Log }): Channels {
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
  };
}
