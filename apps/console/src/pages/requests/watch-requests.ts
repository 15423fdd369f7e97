import type { RpcInput, RpcResult } from '@model-gateway/contracts';
import type { RpcSubscription } from '@model-gateway/client';

/** Whether new requests are announced to the page. */
export type WatchState = 'connecting' | 'live' | 'lost';

interface WatchSource {
  watch(params: RpcInput<'requests.watch'>): Promise<RpcResult<'requests.watch'>>;
  subscribe(sessionId: string, signal: AbortSignal): RpcSubscription;
}

interface WatchOptions {
  readonly params: RpcInput<'requests.watch'>;
  readonly signal: AbortSignal;
  /** Asks for the list again: something is new, or may have been missed. */
  readonly onChange: () => Promise<unknown>;
  readonly onState: (state: WatchState) => void;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now?: () => number;
}

const DELAYS_MS = [500, 1000, 2000, 5000, 10_000];
/** The next watch begins this long before the last one ends. */
const EARLY_MS = 60_000;
const LEAST_MS = 1000;

/** Follows new requests until it is stopped. After each new connection the list is asked for again, so that nothing that a reload would show is missed. */
export async function watchRequests(source: WatchSource, options: WatchOptions): Promise<void> {
  const { params, signal, onState, pause = wait, now = () => Date.now() } = options;
  const changed = oneAtATime(options.onChange);
  let failures = 0;

  /** Resolves when the watch has ended as planned, and throws when the connection was lost. */
  async function follow(): Promise<void> {
    const { stream_id: streamId, expires_at: expiresAt } = await source.watch(params);
    const ending = new AbortController();
    const end = AbortSignal.any([signal, ending.signal]);
    const stream = source.subscribe(streamId, end);
    const lifetimeMs = Math.max(Date.parse(expiresAt) - now() - EARLY_MS, LEAST_MS);
    const timer = setTimeout(() => ending.abort(), lifetimeMs);
    try {
      await stream.ready;
      failures = 0;
      onState('live');
      changed();
      for await (const event of stream)
        if ('method' in event && event.method === 'requests.changed') changed();
    } catch (error) {
      if (!end.aborted) throw error;
    } finally {
      clearTimeout(timer);
      stream.close();
    }
    if (!end.aborted) throw new Error('the stream ended');
  }

  while (!signal.aborted) {
    try {
      await follow();
    } catch {
      if (signal.aborted) return;
      onState('lost');
      await pause(DELAYS_MS[Math.min(failures, DELAYS_MS.length - 1)] ?? 0, signal);
      failures += 1;
    }
  }
}

/** Runs a task, and once more if it was requested meanwhile; never twice at the same time. */
function oneAtATime(task: () => Promise<unknown>): () => void {
  let isRunning = false;
  let isRequested = false;
  async function run(): Promise<void> {
    isRunning = true;
    while (isRequested) {
      isRequested = false;
      // The page shows what went wrong.
      await task().catch(() => undefined);
    }
    isRunning = false;
  }
  return () => {
    isRequested = true;
    if (!isRunning) void run();
  };
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
    globalThis.addEventListener?.('online', stop, { once: true });
  });
