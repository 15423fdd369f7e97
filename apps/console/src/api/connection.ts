import { randomId } from '@model-gateway/client';
import type { Api } from './api.ts';

/** Whether the page is connected to the service. */
export type ConnectionState = 'connecting' | 'connected' | 'lost';

/** One event stream that stays open while a user is signed in: it shows when the service is unavailable. */
export interface ServiceStatus {
  readonly getState: () => ConnectionState;
  readonly onChange: (listener: () => void) => () => void;
  /** Calls back each time the stream is open, also when it is open already. */
  onConnect(listener: () => void): () => void;
  /** Tries now instead of at the next time. */
  retry(): void;
  stop(): void;
}

interface ConnectionOptions {
  /** Called when the stream is back after it was lost: everything may have changed meanwhile. */
  readonly onRecovery: () => void;
  readonly delaysMs?: readonly number[];
}

const DELAYS_MS = [500, 1000, 2000, 5000, 10_000];

export function watchConnection(
  api: Pick<Api, 'subscribe'>,
  { onRecovery, delaysMs = DELAYS_MS }: ConnectionOptions,
): ServiceStatus {
  const stopping = new AbortController();
  const listeners = new Set<() => void>();
  const connectListeners = new Set<() => void>();
  // Nothing is sent to this session: it only shows whether the connection is open.
  const sessionId = `console-${randomId()}`;
  let state: ConnectionState = 'connecting';
  let wake: () => void = () => undefined;

  function become(next: ConnectionState): void {
    if (state === next) return;
    const isRecovery = state === 'lost' && next === 'connected';
    state = next;
    for (const listener of listeners) listener();
    if (isRecovery) onRecovery();
  }

  /** Resolves when the stream has ended; whether it had been open. */
  async function listen(): Promise<boolean> {
    const stream = api.subscribe(sessionId, stopping.signal);
    try {
      await stream.ready;
    } catch {
      return false;
    }
    become('connected');
    for (const listener of connectListeners) listener();
    try {
      for await (const _event of stream);
    } catch {
      // Its end is all that matters.
    }
    return true;
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      failures = (await listen()) ? 0 : failures + 1;
      if (stopping.signal.aborted) return;
      // The end of a stream can be a restart of its process while others still serve.
      if (failures > 0) become('lost');
      await pause(delaysMs[Math.min(failures, delaysMs.length - 1)] ?? 0);
    }
  }

  const onOnline = (): void => wake();
  globalThis.addEventListener?.('online', onOnline);
  void run();
  return {
    getState: () => state,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onConnect(listener) {
      connectListeners.add(listener);
      if (state === 'connected') listener();
      return () => void connectListeners.delete(listener);
    },
    retry: () => wake(),
    stop() {
      globalThis.removeEventListener?.('online', onOnline);
      stopping.abort();
      wake();
    },
  };
}
