import type { Sessions } from '../sessions/sessions.ts';

/**
 * Pushes the notifications of one session in order. Only one push runs at a time; notifications added meanwhile are sent
 * together in the next one, so a busy process pushes less often instead of falling behind.
 */
export interface OrderedPush {
  /** Undefined while the queue has space; else a promise that resolves when it has space again. */
  push(notification: string): Promise<void> | undefined;
  /** Resolves when everything has been sent. */
  settled(): Promise<void>;
}

/** How many notifications may wait for the current push. */
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
  let onDrained: (() => void) | undefined;
  let drained: Promise<void> | undefined;

  function take(): readonly string[] {
    const batch = waiting;
    waiting = [];
    waitingChars = 0;
    onDrained?.();
    onDrained = undefined;
    drained = undefined;
    return batch;
  }

  /** Never rejects: a failed push is logged. */
  async function pushWaiting(): Promise<void> {
    while (waiting.length > 0) await sessions.push(sessionId, take().join(LINE_END));
    pushing = undefined;
  }

  return {
    push(notification) {
      // JSON strings contain no line ends, so each one is white space and can be a space.
      waiting.push(notification.replaceAll(LINE_ENDS, ' '));
      waitingChars += notification.length;
      pushing ??= pushWaiting();
      if (waiting.length < WAITING_MAX && waitingChars < WAITING_CHARS_MAX) return undefined;
      drained ??= new Promise((resolve) => {
        onDrained = resolve;
      });
      return drained;
    },
    async settled() {
      await pushing;
    },
  };
}
