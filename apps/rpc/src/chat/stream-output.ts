import type { Sessions } from '../sessions/sessions.ts';
import { createOrderedPush } from './ordered-push.ts';

/**
 * What a stream says, on its way to whoever listens. Nothing is said to nobody: until somebody listens it is held back, as
 * much as a short answer takes. A longer one goes out regardless.
 */
export interface StreamOutput {
  /** Nothing while there is room; else resolves when there is room again. */
  push(notification: string): Promise<void> | undefined;
  /** Says the last thing. Resolves when everything is handed on; whoever comes late is waited for a while. */
  end(notification: string): Promise<void>;
  /** Waits for nobody after the end any more. */
  hurry(): void;
}

interface StreamOutputOptions {
  /** How long whoever comes late is waited for; asked at the end. */
  readonly lateListenerMs?: () => number;
}

const HELD_CHARS_MAX = 64 * 1024;
/** Whoever comes later than it takes to open a connection, on a bad day, has missed it. */
export const LATE_LISTENER_MS = 1_500;

export function createStreamOutput(
  sessions: Pick<Sessions, 'push' | 'onListener'>,
  sessionId: string,
  { lateListenerMs = () => LATE_LISTENER_MS }: StreamOutputOptions = {},
): StreamOutput {
  const output = createOrderedPush(sessions, sessionId);
  const held: string[] = [];
  let heldChars = 0;
  let isHeld = true;
  let isHurried = false;
  let onReleased: (() => void) | undefined;
  const stopWaiting = sessions.onListener(sessionId, release);

  function release(): void {
    if (!isHeld) return;
    isHeld = false;
    stopWaiting();
    for (const notification of held.splice(0)) void output.push(notification);
    onReleased?.();
  }

  function push(notification: string): Promise<void> | undefined {
    if (!isHeld) return output.push(notification);
    held.push(notification);
    heldChars += notification.length;
    if (heldChars > HELD_CHARS_MAX) release();
    return undefined;
  }

  function released(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(release, lateListenerMs());
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
      if (isHurried) release();
      if (isHeld) await released();
      await output.settled();
    },
    hurry() {
      isHurried = true;
      if (onReleased !== undefined) release();
    },
  };
}
