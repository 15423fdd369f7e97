import type { Sessions } from '../sessions/sessions.ts';
import { createOrderedPush } from './ordered-push.ts';

/**
 * What a stream says, on its way to whoever listens. At first it is held back until somebody does, so that who listens right after the
 * answer misses nothing. After that, and beyond what a short answer takes, what is said to nobody is lost.
 */
export interface StreamOutput {
  /** Nothing while there is room; else resolves when there is room again. */
  push(notification: string): Promise<void> | undefined;
  /** Says the last thing. Resolves when everything is handed on. */
  end(notification: string): Promise<void>;
}

interface StreamOutputOptions {
  readonly heldMs?: number;
}

const HELD_CHARS_MAX = 64 * 1024;
// What is needed to open a connection, on a bad day.
const HELD_MS = 1_500;

export function createStreamOutput(
  sessions: Pick<Sessions, 'push' | 'onListener'>,
  sessionId: string,
  { heldMs = HELD_MS }: StreamOutputOptions = {},
): StreamOutput {
  const output = createOrderedPush(sessions, sessionId);
  const held: string[] = [];
  let heldChars = 0;
  let isHeld = true;
  let onReleased: () => void = () => undefined;
  const timer = setTimeout(release, heldMs);
  const stopWaiting = sessions.onListener(sessionId, release);

  function release(): void {
    if (!isHeld) return;
    isHeld = false;
    clearTimeout(timer);
    stopWaiting();
    for (const notification of held.splice(0)) void output.push(notification);
    onReleased();
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
      onReleased = resolve;
    });
  }

  return {
    push,
    async end(notification) {
      void push(notification);
      if (isHeld) await released();
      await output.settled();
    },
  };
}
