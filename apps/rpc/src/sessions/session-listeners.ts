import { SESSION_LISTENERS_CHANNEL } from '@model-gateway/contracts';
import {
  describeError,
  startPeerTimeout,
  type Channels,
  type Log,
  type Subscription,
} from '@model-gateway/kernel';

/** Notifies when a session gets a listener, on any replica. */
export interface SessionListeners {
  /** Publishes to all replicas that this process has a listener; call it when the subscription is live. */
  announce(sessionId: string): void;
  /** Calls back once, when the session gets a listener; the returned function cancels it. One callback per session. */
  onListener(sessionId: string, onListener: () => void): () => void;
  /** Resolves to true when the session gets a listener, to false after the timeout. */
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

  function notify(sessionId: string): void {
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
        notify(sessionId);
        return;
      }
      channels.publish(SESSION_LISTENERS_CHANNEL, sessionId).catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'publishing a session listener failed');
      });
    },
    onListener,
    wait(sessionId, timeoutMs) {
      return new Promise((resolve) => {
        const end = (hasListener: boolean): void => {
          timeout.stop();
          stop();
          resolve(hasListener);
        };
        const stop = onListener(sessionId, () => end(true));
        const timeout = startPeerTimeout(timeoutMs, () => end(false)).unref();
      });
    },
    async start() {
      subscription = await channels.subscribe(SESSION_LISTENERS_CHANNEL, notify);
    },
    async stop() {
      await subscription?.close();
    },
  };
}
