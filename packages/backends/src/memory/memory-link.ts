import type { RpcSocket } from '../json-rpc/rpc-socket.ts';

/** The connection to the memory service: opened by the first call that needs it, and shared by all calls. */
export interface MemoryLink {
  /** When the work fails, the next call gets a new connection; calls under way on the old one may finish. */
  use<Result>(work: (opening: Promise<RpcSocket>) => Promise<Result>): Promise<Result>;
  close(): void;
}

/** Opens a connection and tells when it is gone. */
type Open = (onGone: () => void) => Promise<RpcSocket>;

interface HeldConnection {
  readonly opening: Promise<RpcSocket>;
  underWay: number;
}

export function createMemoryLink(open: Open): MemoryLink {
  let current: HeldConnection | undefined;

  function connect(): HeldConnection {
    const held: HeldConnection = { opening: open(() => drop(held)), underWay: 0 };
    // Whoever waits for it reports the failure.
    held.opening.catch(() => drop(held));
    return held;
  }
  function drop(held: HeldConnection): void {
    if (current === held) current = undefined;
  }
  function end({ opening }: HeldConnection): void {
    opening.then(
      (socket) => socket.close(),
      () => undefined,
    );
  }

  return {
    async use(work) {
      const held = (current ??= connect());
      held.underWay += 1;
      try {
        return await work(held.opening);
      } catch (error) {
        drop(held);
        throw error;
      } finally {
        held.underWay -= 1;
        if (current !== held && held.underWay === 0) end(held);
      }
    },
    close() {
      if (current !== undefined) end(current);
      current = undefined;
    },
  };
}
