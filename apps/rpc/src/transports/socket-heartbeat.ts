import type { WebSocket } from 'ws';

/** Pings sockets, and ends those whose peer no longer answers. */
export interface SocketHeartbeat {
  /** Watches a socket until it closes. */
  watch(socket: WebSocket): void;
  stop(): void;
}

const PING_MS = 30_000;
const PONGS_MISSED_MAX = 2;

export function createSocketHeartbeat(pingMs = PING_MS): SocketHeartbeat {
  const missedPongs = new Map<WebSocket, number>();

  function checkSockets(): void {
    for (const [socket, missed] of missedPongs) {
      if (missed >= PONGS_MISSED_MAX) {
        socket.terminate();
      } else {
        missedPongs.set(socket, missed + 1);
        socket.ping();
      }
    }
  }

  // If this process was stalled, pongs may have arrived; they are read before the check.
  const timer = setInterval(() => setImmediate(checkSockets), pingMs).unref();

  return {
    watch(socket) {
      missedPongs.set(socket, 0);
      socket.on('pong', () => missedPongs.set(socket, 0));
      socket.once('close', () => missedPongs.delete(socket));
    },
    stop: () => clearInterval(timer),
  };
}
