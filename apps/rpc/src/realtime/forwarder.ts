/** Passes messages on one after another, without making whoever adds them wait. */
export interface Forwarder {
  /** Queues a message that goes out after `prepared`. False when too much waits already, and it was not taken. */
  add(message: string, prepared?: Promise<void>): boolean;
  /** Nothing goes out before this was said and `ready` has come. */
  begin(ready: Promise<unknown>): void;
  /** Resolves when everything that was added has gone out; what was never begun stays. */
  flushed(): Promise<void>;
}

interface Waiting {
  readonly message: string;
  readonly bytes: number;
  readonly prepared: Promise<void> | undefined;
}

/** Sends one message; what is sent later arrives later. Never rejects. */
type Push = (message: string) => Promise<void>;

/** How many messages may be on their way at once. */
const UNDER_WAY_MAX = 32;
const WAITING_MESSAGES_MAX = 10_000;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

export function createForwarder(push: Push): Forwarder {
  const queue: Waiting[] = [];
  const underWay = new Set<Promise<void>>();
  let waitingBytes = 0;
  let begun: Promise<unknown> | undefined;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    await begun;
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      if (next.prepared !== undefined) await next.prepared;
      queue.shift();
      waitingBytes -= next.bytes;
      send(next.message);
      const [oldest] = underWay;
      if (underWay.size >= UNDER_WAY_MAX) await oldest;
    }
    running = undefined;
  }

  function send(message: string): void {
    const sent = push(message).finally(() => underWay.delete(sent));
    underWay.add(sent);
  }

  return {
    add(message, prepared) {
      const bytes = Buffer.byteLength(message);
      const isFull =
        queue.length >= WAITING_MESSAGES_MAX || waitingBytes + bytes > WAITING_BYTES_MAX;
      if (isFull) return false;
      queue.push({ message, bytes, prepared });
      waitingBytes += bytes;
      if (begun !== undefined) running ??= run();
      return true;
    },
    begin(ready) {
      begun = ready;
      running ??= run();
    },
    async flushed() {
      await running;
      await Promise.all(underWay);
    },
  };
}
