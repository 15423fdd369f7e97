import type { Sessions } from '../sessions/sessions.ts';
import { createOrderedPush } from './ordered-push.ts';

/**
 * Sends the notifications of a stream to its listener. Until there is a listener they are buffered, up to the size of a
 * short response; a longer one is sent without a listener.
 */
export interface StreamOutput {
  /** Undefined while the queue has space; else a promise that resolves when it has space again. */
  push(notification: string): Promise<void> | undefined;
  /** Sends the last notification. Waits a while for a late listener; resolves when everything has been sent. */
  end(notification: string): Promise<void>;
  /** From now on the end does not wait for a late listener. */
  skipListenerWait(): void;
}

interface StreamOutputOptions {
  /** How long the end waits for a late listener. */
  readonly lateListenerMs?: number;
}

const BUFFERED_CHARS_MAX = 64 * 1024;
/** On a busy machine it takes seconds to open a connection. */
const LATE_LISTENER_MS = 10_000;

export function createStreamOutput(
  sessions: Pick<Sessions, 'push' | 'onListener'>,
  sessionId: string,
  { lateListenerMs = LATE_LISTENER_MS }: StreamOutputOptions = {},
): StreamOutput {
  const output = createOrderedPush(sessions, sessionId);
  const buffered: string[] = [];
  let bufferedChars = 0;
  let isBuffering = true;
  let skipsWait = false;
  let onReleased: (() => void) | undefined;
  const stopWaiting = sessions.onListener(sessionId, release);

  function release(): void {
    if (!isBuffering) return;
    isBuffering = false;
    stopWaiting();
    for (const notification of buffered.splice(0)) void output.push(notification);
    onReleased?.();
  }

  function push(notification: string): Promise<void> | undefined {
    if (!isBuffering) return output.push(notification);
    buffered.push(notification);
    bufferedChars += notification.length;
    if (bufferedChars > BUFFERED_CHARS_MAX) release();
    return undefined;
  }

  function released(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(release, lateListenerMs);
      onReleased = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    push,
    async end(notification) {
      void push(notification);
      if (skipsWait) release();
      if (isBuffering) await released();
      await output.settled();
    },
    skipListenerWait() {
      skipsWait = true;
      if (onReleased !== undefined) release();
    },
  };
}
