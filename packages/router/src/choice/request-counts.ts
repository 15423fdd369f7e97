import {
  randomToken,
  tryParse,
  type Channels,
  type Log,
  type Subscription,
} from '@model-gateway/kernel';
import { z } from 'zod';

/** The number of requests of each backend, in this process and, a moment later, in the other replicas. */
export interface RequestCounts {
  of(name: string): number;
  add(name: string): void;
  forget(name: string): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface RequestCountsDependencies {
  readonly channels: Channels;
  readonly log: Log;
  readonly shareEveryMs?: number;
}

const CHANNEL = 'request-counts';
const SHARE_EVERY_MS = 200;

const messageSchema = z.object({
  from: z.string(),
  counts: z.record(z.string(), z.number().int().min(0)),
});

export function createRequestCounts(dependencies: RequestCountsDependencies): RequestCounts {
  const { channels, log, shareEveryMs = SHARE_EVERY_MS } = dependencies;
  const from = randomToken();
  const counts = new Map<string, number>();
  const unshared = new Map<string, number>();
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;

  const add = (to: Map<string, number>, name: string, by: number): void =>
    void to.set(name, (to.get(name) ?? 0) + by);

  /** Only the new counts are published, and nothing if there are none. */
  function share(): void {
    timer = undefined;
    const message = JSON.stringify({ from, counts: Object.fromEntries(unshared) });
    unshared.clear();
    channels.publish(CHANNEL, message).catch((error: unknown) => {
      log.warn({ error }, 'sharing request counts failed');
    });
  }

  function merge(text: string): void {
    const message = tryParse(messageSchema, text);
    if (message === undefined || message.from === from) return;
    for (const [name, by] of Object.entries(message.counts)) add(counts, name, by);
  }

  return {
    of: (name) => counts.get(name) ?? 0,
    add(name) {
      add(counts, name, 1);
      add(unshared, name, 1);
      timer ??= setTimeout(share, shareEveryMs).unref();
    },
    forget(name) {
      counts.delete(name);
      unshared.delete(name);
    },
    async start() {
      subscription = await channels.subscribe(CHANNEL, merge);
    },
    async stop() {
      clearTimeout(timer);
      await subscription?.close();
    },
  };
}
