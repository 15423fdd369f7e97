import type { Sessions } from '../sessions/sessions.ts';

/**
 * Pushes the notifications of one session in order. One push is under way at a time; what comes meanwhile goes out together
 * with the next one, so a busy process pushes less often instead of falling behind.
 */
export interface OrderedPush {
  /** Nothing while there is room; else resolves when there is room again. */
  push(notification: string): Promise<void> | undefined;
  /** Resolves when everything has been handed on. */
  settled(): Promise<void>;
}

/** How much may wait for a push under way. */
const WAITING_MAX = 256;
const WAITING_CHARS_MAX = 64 * 1024;

const LINE_END = '\n';
const LINE_ENDS = /[\r\n]/g;

export function createOrderedPush(
  sessions: Pick<Sessions, 'push'>,
  sessionId: string,
): OrderedPush {
  let waiting: string[] = [];
  let waitingChars = 0;
  let pushing: Promise<void> | undefined;
  let onRoom: (() => void) | undefined;
  let room: Promise<void> | undefined;

  function take(): readonly string[] {
    const batch = waiting;
    waiting = [];
    waitingChars = 0;
    onRoom?.();
    onRoom = undefined;
    room = undefined;
    return batch;
  }

  /** Never rejects: what cannot be pushed is logged. */
  async function pushWaiting(): Promise<void> {
    while (waiting.length > 0) await sessions.push(sessionId, take().join(LINE_END));
    pushing = undefined;
  }

  return {
    push(notification) {
      // Between the parts of a JSON text a line end is as good as a space, and inside of them there is none.
      waiting.push(notification.replaceAll(LINE_ENDS, ' '));
      waitingChars += notification.length;
      pushing ??= pushWaiting();
      if (waiting.length < WAITING_MAX && waitingChars < WAITING_CHARS_MAX) return undefined;
      room ??= new Promise((resolve) => {
        onRoom = resolve;
      });
      return room;
    },
    async settled() {
      await pushing;
    },
  };
}
