import type { RpcSocket } from '../json-rpc/rpc-socket.ts';

/** The connection to the memory service: opened by the first call that needs it, and shared by all calls. */
export interface MemoryLink {
  /** When the work fails, the next call gets a new connection; pending calls on the old one may finish. */
  use<Result>(work: (opening: Promise<RpcSocket>) => Promise<Result>): Promise<Result>;
  close(): void;
}

/** Opens a connection and calls back when it is closed. */
type Open = (onClosed: () => void) => Promise<RpcSocket>;

interface SharedConnection {
  readonly opening: Promise<RpcSocket>;
  underWay: number;
}

export function createMemoryLink(open: Open): MemoryLink {
  let current: SharedConnection | undefined;

  function connect(): SharedConnection {
    const connection: SharedConnection = { opening: open(() => drop(connection)), underWay: 0 };
    // The waiting caller reports the failure.
    connection.opening.catch(() => drop(connection));
    return connection;
  }
  function drop(connection: SharedConnection): void {
    if (current === connection) current = undefined;
  }
  function end({ opening }: SharedConnection): void {
    opening.then(
      (socket) => socket.close(),
      () => undefined,
    );
  }

  return {
    async use(work) {
      const connection = (current ??= connect());
      connection.underWay += 1;
      try {
        return await work(connection.opening);
      } catch (error) {
        drop(connection);
        throw error;
      } finally {
        connection.underWay -= 1;
        if (current !== connection && connection.underWay === 0) end(connection);
      }
    },
    close() {
      if (current !== undefined) end(current);
      current = undefined;
    },
  };
}
