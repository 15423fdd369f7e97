import type { Sessions } from '../sessions/sessions.ts';

/** Pushes the messages of one session one after another, without waiting for each to arrive. */
export interface OrderedPush {
  /** Nothing while there is room; else resolves when there is room again. */
  push(message: string): Promise<void> | undefined;
  /** Resolves when everything has been handed on. */
  settled(): Promise<void>;
}

/** How many messages of a session may be under way; channels keep the order of what was published. */
const UNDER_WAY_MAX = 32;
const ROOM_AGAIN_AT = 16;

export function createOrderedPush(
  sessions: Pick<Sessions, 'push'>,
  sessionId: string,
): OrderedPush {
  let underWay = 0;
  let wakeAt = 0;
  let wake: (() => void) | undefined;

  function done(): void {
    underWay -= 1;
    if (wake === undefined || underWay > wakeAt) return;
    const woken = wake;
    wake = undefined;
    woken();
  }

  function fewerThan(count: number): Promise<void> {
    return new Promise((resolve) => {
      wakeAt = count;
      wake = resolve;
    });
  }

  return {
    push(message) {
      underWay += 1;
      // Never rejects: what cannot be published is logged.
      void sessions.push(sessionId, message).then(done);
      return underWay < UNDER_WAY_MAX ? undefined : fewerThan(ROOM_AGAIN_AT);
    },
    settled: () => (underWay === 0 ? Promise.resolve() : fewerThan(0)),
  };
}
