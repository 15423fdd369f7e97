import { describeError, type Channels, type Log } from '@model-gateway/kernel';
import { ReplyError, type Redis } from 'ioredis';
import { createListeners } from '../local/listeners.ts';
import type { RedisConnection } from './redis-connection.ts';

/** Channels over Redis publish/subscribe: one subscription per channel, shared by the listeners of this process. */
export interface RedisChannels extends Channels {
  /** Listens until it is closed, also after reconnects. */
  listen(channel: string, onMessage: (message: string) => void): RedisListener;
}

export interface RedisListener {
  /** Resolves when the subscription has been live for the first time; rejects when Redis refuses it. */
  readonly live: Promise<void>;
  close(): void;
}

interface RedisChannelsOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  readonly log: Log;
}

interface Pending {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

// Tens of thousands of channels are subscribed again in commands of this many.
const CHANNELS_PER_COMMAND_MAX = 1_000;

export function createRedisChannels(options: RedisChannelsOptions): RedisChannels {
  const { connection, prefix, log } = options;
  const listeners = createListeners(log);
  /** One for each channel that has listeners. */
  const subscriptions = new Map<string, Pending>();
  const toSubscribe = new Set<string>();
  const toUnsubscribe = new Set<string>();
  let flushPlanned = false;

  connection.onMessage((channel, message) => {
    listeners.deliver(channel.slice(prefix.length), message);
  });
  connection.onSubscriberConnected(restoreAll);
  connection.onChange(planFlush);

  async function subscribeOn(subscriber: Redis, channels: readonly string[]): Promise<void> {
    // A channel that was unsubscribed and subscribed again meanwhile waits for its own command.
    const affected = channels.map((channel) => subscriptions.get(channel));
    try {
      await subscriber.subscribe(...channels.map((channel) => prefix + channel));
      for (const pending of affected) pending?.resolve();
    } catch (error) {
      // After a reconnect all channels are subscribed again; only a refusal is final.
      if (error instanceof ReplyError) for (const pending of affected) pending?.reject(error);
      throw error;
    }
  }

  /** A new connection has no subscriptions: nothing to unsubscribe, everything to subscribe. */
  async function restoreAll(subscriber: Redis): Promise<void> {
    toUnsubscribe.clear();
    toSubscribe.clear();
    const wanted = [...subscriptions.keys()];
    // One after another: each command has a time limit, however many there are.
    for (const channels of chunked(wanted)) await subscribeOn(subscriber, channels);
  }

  function planFlush(): void {
    if (flushPlanned || !connection.channelsReady()) return;
    if (toSubscribe.size === 0 && toUnsubscribe.size === 0) return;
    flushPlanned = true;
    queueMicrotask(flush);
  }

  /**
   * Redis executes the commands of a connection in order, so the last one for a channel decides. Unsubscribing goes first: a
   * channel in both sets was unsubscribed and subscribed again.
   */
  function flush(): void {
    flushPlanned = false;
    if (!connection.channelsReady()) return;
    for (const channels of chunked([...toUnsubscribe])) unsubscribe(channels);
    for (const channels of chunked([...toSubscribe])) subscribe(channels);
    toUnsubscribe.clear();
    toSubscribe.clear();
  }

  function unsubscribe(channels: readonly string[]): void {
    const names = channels.map((channel) => prefix + channel);
    connection
      .runOnSubscriber((subscriber) => subscriber.unsubscribe(...names))
      .catch((error: unknown) =>
        log.debug({ reason: describeError(error) }, 'unsubscribing failed'),
      );
  }

  function subscribe(channels: readonly string[]): void {
    connection
      .runOnSubscriber((subscriber) => subscribeOn(subscriber, channels))
      .catch((error: unknown) => log.debug({ reason: describeError(error) }, 'subscribing failed'));
  }

  function addSubscription(channel: string): Pending {
    const existing = subscriptions.get(channel);
    if (existing !== undefined) return existing;
    const pending = newPending();
    subscriptions.set(channel, pending);
    toSubscribe.add(channel);
    planFlush();
    return pending;
  }

  function dropSubscription(channel: string): void {
    subscriptions.delete(channel);
    // If it is not sent yet, there is nothing to unsubscribe.
    if (!toSubscribe.delete(channel)) toUnsubscribe.add(channel);
    planFlush();
  }

  function listen(channel: string, onMessage: (message: string) => void): RedisListener {
    const remove = listeners.add(channel, onMessage);
    const { promise } = addSubscription(channel);
    let open = true;
    return {
      live: promise,
      close() {
        if (!open) return;
        open = false;
        remove();
        if (listeners.count(channel) === 0) dropSubscription(channel);
      },
    };
  }

  return {
    publish: (channel, message) =>
      connection.run((client) => client.publish(prefix + channel, message)),
    listen,
    async subscribe(channel, onMessage) {
      const listener = listen(channel, onMessage);
      try {
        await listener.live;
      } catch (error) {
        listener.close();
        throw error;
      }
      return { close: () => Promise.resolve(listener.close()) };
    },
  };
}

function newPending(): Pending {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  // The listener may be closed before the refusal arrives.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

function chunked(channels: readonly string[]): string[][] {
  const chunks: string[][] = [];
  for (let at = 0; at < channels.length; at += CHANNELS_PER_COMMAND_MAX) {
    chunks.push(channels.slice(at, at + CHANNELS_PER_COMMAND_MAX));
  }
  return chunks;
}
