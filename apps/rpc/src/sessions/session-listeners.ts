import { SESSION_LISTENERS_CHANNEL } from '@model-gateway/contracts';
import { describeError, type Channels, type Log, type Subscription } from '@model-gateway/kernel';

/** Knows when somebody begins to listen to a session, on whichever replica. */
export interface SessionListeners {
  /** Says to all replicas that somebody listens here; to be called when nothing can be missed any more. */
  announce(sessionId: string): void;
  /** Calls back once, as soon as somebody begins to listen; the answer stops that. One may ask per session. */
  onListener(sessionId: string, onListener: () => void): () => void;
  /** Waits from now on: true when somebody listens, false when nobody does by the end of the time. */
  wait(sessionId: string, timeoutMs: number): Promise<boolean>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface SessionListenersDependencies {
  readonly channels: Channels;
  readonly log: Log;
}

export function createSessionListeners({
  channels,
  log,
}: SessionListenersDependencies): SessionListeners {
  const waiting = new Map<string, () => void>();
  let subscription: Subscription | undefined;

  function heard(sessionId: string): void {
    const callBack = waiting.get(sessionId);
    waiting.delete(sessionId);
    callBack?.();
  }

  function onListener(sessionId: string, callBack: () => void): () => void {
    waiting.set(sessionId, callBack);
    return () => {
      if (waiting.get(sessionId) === callBack) waiting.delete(sessionId);
    };
  }

  return {
    announce(sessionId) {
      if (waiting.has(sessionId)) {
        heard(sessionId);
        return;
      }
      channels.publish(SESSION_LISTENERS_CHANNEL, sessionId).catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'a listener could not be announced');
      });
    },
    onListener,
    wait(sessionId, timeoutMs) {
      return new Promise((resolve) => {
        const end = (isThere: boolean): void => {
          clearTimeout(timer);
          stop();
          resolve(isThere);
        };
        const stop = onListener(sessionId, () => end(true));
        // In a busy process the news may have arrived and not been read: it is looked at once more before giving up.
        const timer = setTimeout(() => setImmediate(() => end(false)), timeoutMs);
      });
    },
    async start() {
      subscription = await channels.subscribe(SESSION_LISTENERS_CHANNEL, heard);
    },
    async stop() {
      await subscription?.close();
    },
  };
}
