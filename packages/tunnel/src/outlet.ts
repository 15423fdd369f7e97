/** The way out that all exchanges of a connection share. */
export interface Outlet {
  send(frame: Buffer): void;
  /** So much has not left this process yet that bodies should wait. */
  readonly isCrowded: boolean;
  /** Called once, when there is room again and it is the caller's turn. */
  whenClear(go: () => void): void;
}

/** Sends a frame; told when it has left this process, or never will. */
export type Send = (frame: Buffer, onSent: () => void) => void;

const UNSENT_BYTES_MAX = 1024 * 1024;

export function createOutlet(send: Send, unsentBytesMax = UNSENT_BYTES_MAX): Outlet {
  const waiting: (() => void)[] = [];
  let unsent = 0;

  const isCrowded = (): boolean => unsent >= unsentBytesMax;

  function release(): void {
    while (!isCrowded()) {
      const go = waiting.shift();
      if (go === undefined) return;
      go();
    }
  }

  return {
    get isCrowded() {
      // Whoever comes later waits behind those who wait already.
      return isCrowded() || waiting.length > 0;
    },
    whenClear: (go) => void waiting.push(go),
    send(frame) {
      unsent += frame.length;
      send(frame, () => {
        unsent -= frame.length;
        release();
      });
    },
  };
}
