import { createDeferred } from '@model-gateway/kernel';

/** Sends messages one after another; adding one never waits. */
export interface Forwarder {
  /**
   * Queues a message that is sent after `prepared`. If `prepared` resolves to another message, that one is sent instead of this
   * message and of all that wait behind it. False when the queue is full and the message was not added.
   */
  add(message: string, prepared?: Promise<string | undefined>): boolean;
  /** Starts sending after `ready`, or when much is waiting. */
  begin(ready: Promise<unknown>): void;
  /** Starts sending without waiting for `ready`. */
  skipWait(): void;
  /** Resolves when every message has been sent; resolves immediately before `begin`. */
  flushed(): Promise<void>;
}

interface Waiting {
  readonly message: string;
  readonly bytes: number;
  readonly prepared: Promise<string | undefined> | undefined;
}

/** Sends one message; what is sent later arrives later. Never rejects. */
type Push = (message: string) => Promise<void>;

/** How many messages may be in flight at once. */
const IN_FLIGHT_MAX = 32;
/** With more than this waiting, sending begins although there is no listener yet. */
const UNREAD_BYTES_MAX = 1024 * 1024;
const WAITING_MESSAGES_MAX = 10_000;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

export function createForwarder(push: Push): Forwarder {
  const queue: Waiting[] = [];
  const inFlight = new Set<Promise<void>>();
  const skipped = createDeferred();
  let waitingBytes = 0;
  let begun: Promise<unknown> | undefined;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    await begun;
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const replacement = next.prepared === undefined ? undefined : await next.prepared;
      for (const sent of queue.splice(0, replacement === undefined ? 1 : queue.length))
        waitingBytes -= sent.bytes;
      send(replacement ?? next.message);
      const [oldest] = inFlight;
      if (inFlight.size >= IN_FLIGHT_MAX) await oldest;
    }
    running = undefined;
  }

  function send(message: string): void {
    const sent = push(message).finally(() => inFlight.delete(sent));
    inFlight.add(sent);
  }

  return {
    add(message, prepared) {
      const bytes = Buffer.byteLength(message);
      const isFull =
        queue.length >= WAITING_MESSAGES_MAX || waitingBytes + bytes > WAITING_BYTES_MAX;
      if (isFull) return false;
      queue.push({ message, bytes, prepared });
      waitingBytes += bytes;
      if (waitingBytes > UNREAD_BYTES_MAX) skipped.resolve();
      if (begun !== undefined) running ??= run();
      return true;
    },
    begin(ready) {
      begun = Promise.race([ready, skipped.promise]);
      running ??= run();
    },
    skipWait: () => skipped.resolve(),
    async flushed() {
      await running;
      await Promise.all(inFlight);
    },
  };
}
