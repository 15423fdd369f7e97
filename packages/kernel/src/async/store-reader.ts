import type { Channels, Subscription } from '../ports/channels.ts';

/** Reads a store into memory: at the start, after each message on a channel, and from time to time. */
export interface StoreReader {
  /** Resolves after a read that began now or later. Never rejects. */
  reload(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface StoreReaderOptions<Value> {
  readonly channels: Pick<Channels, 'subscribe'>;
  readonly channel: string;
  readonly read: () => Promise<Value>;
  readonly onRead: (value: Value) => void;
  readonly onFailure: (error: unknown) => void;
  /** For messages that were missed, and for changes made in the database by hand. */
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 30_000;

export function createStoreReader<Value>(options: StoreReaderOptions<Value>): StoreReader {
  const { channels, channel, read, onRead, onFailure, everyMs = EVERY_MS } = options;
  let reading: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;

  function readNow(): Promise<void> {
    next = undefined;
    reading = read()
      .then(onRead)
      .catch(onFailure)
      .finally(() => (reading = undefined));
    return reading;
  }

  // A read in progress may miss a change; then it is repeated.
  function reload(): Promise<void> {
    if (reading === undefined) return readNow();
    next ??= reading.then(readNow);
    return next;
  }

  return {
    reload,
    async start() {
      subscription = await channels.subscribe(channel, () => void reload());
      timer = setInterval(() => void reload(), everyMs).unref();
      await reload();
    },
    async stop() {
      clearInterval(timer);
      await subscription?.close();
      await (next ?? reading);
    },
  };
}
