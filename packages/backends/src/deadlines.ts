/** Something that may take only so long. */
export interface Bounded {
  onTimeout(): void;
}

/** Watches calls that may all take equally long with one timer: making one for each costs more than the call is worth. */
export interface Deadlines {
  add(call: Bounded): void;
  remove(call: Bounded): void;
}

export function createDeadlines(timeoutMs: number): Deadlines {
  // In the order in which they began, which is the one in which they time out.
  const startedAt = new Map<Bounded, number>();
  let timer: NodeJS.Timeout | undefined;

  function timeOut(): void {
    timer = undefined;
    const now = performance.now();
    for (const [call, at] of startedAt) {
      const leftMs = at + timeoutMs - now;
      if (leftMs > 0) {
        arm(leftMs);
        return;
      }
      startedAt.delete(call);
      call.onTimeout();
    }
  }

  /** It stays when its call is over, for the next one; what keeps the process alive is the socket of a call. */
  function arm(afterMs: number): void {
    timer = setTimeout(timeOut, afterMs).unref();
  }

  return {
    add(call) {
      startedAt.set(call, performance.now());
      if (timer === undefined) arm(timeoutMs);
    },
    remove(call) {
      startedAt.delete(call);
    },
  };
}
