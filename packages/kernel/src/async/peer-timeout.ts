/** A time limit for another process: for a reply, or for the next sign of life. */
export interface PeerTimeout {
  /** The time limit begins again. */
  refresh(): void;
  stop(): void;
  /** It does not keep the process running. */
  unref(): PeerTimeout;
}

// After a stall the peer still has the time of all parts but one.
const PARTS = 4;

/**
 * When this process gets no CPU for a while, its timers fire before its sockets are read, and a plain timer blames a peer that
 * has replied in time. This one waits in parts, and reads what arrived before each part counts.
 */
export function startPeerTimeout(timeoutMs: number, onTimeout: () => void): PeerTimeout {
  let partsLeft = PARTS;
  let isRunning = true;
  const timer = setTimeout(() => setImmediate(endPart), timeoutMs / PARTS);

  function endPart(): void {
    if (!isRunning) return;
    partsLeft -= 1;
    if (partsLeft > 0) timer.refresh();
    else {
      isRunning = false;
      onTimeout();
    }
  }

  const timeout: PeerTimeout = {
    refresh() {
      if (!isRunning) return;
      partsLeft = PARTS;
      timer.refresh();
    },
    stop() {
      isRunning = false;
      clearTimeout(timer);
    },
    unref() {
      timer.unref();
      return timeout;
    },
  };
  return timeout;
}
