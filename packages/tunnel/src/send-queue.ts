/** Sends the frames of all exchanges of a connection. */
export interface SendQueue {
  send(frame: Buffer): void;
  /** So many bytes wait to be sent that bodies should wait. */
  readonly isFull: boolean;
  /** Calls `resume` once, when the queue has space again and it is the caller's turn. */
  onReady(resume: () => void): void;
}

/** Sends a frame; `onSent` is called when it has left this process or never will. */
export type Send = (frame: Buffer, onSent: () => void) => void;

const UNSENT_BYTES_MAX = 1024 * 1024;

export function createSendQueue(send: Send, unsentBytesMax = UNSENT_BYTES_MAX): SendQueue {
  const waiting: (() => void)[] = [];
  let unsent = 0;

  const exceedsLimit = (): boolean => unsent >= unsentBytesMax;

  function release(): void {
    while (!exceedsLimit()) {
      const resume = waiting.shift();
      if (resume === undefined) return;
      resume();
    }
  }

  return {
    get isFull() {
      // First come, first served: a new sender waits behind those that already wait.
      return exceedsLimit() || waiting.length > 0;
    },
    onReady: (resume) => void waiting.push(resume),
    send(frame) {
      unsent += frame.length;
      send(frame, () => {
        unsent -= frame.length;
        release();
      });
    },
  };
}
