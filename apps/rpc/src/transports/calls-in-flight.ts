import type { WebSocket } from 'ws';

/** Counts the calls in flight of each socket. A socket with too many of them is not read until some have ended. */
export interface CallsInFlight {
  begin(socket: WebSocket): void;
  end(socket: WebSocket): void;
  isIdle(socket: WebSocket): boolean;
  /** Stops reading a socket until `continueReading`, whatever calls end meanwhile. */
  pauseReading(socket: WebSocket): void;
  continueReading(socket: WebSocket): void;
}

const CALLS_IN_FLIGHT_MAX = 64;

export function createCallsInFlight(): CallsInFlight {
  const counts = new WeakMap<WebSocket, number>();

  const countOf = (socket: WebSocket): number => counts.get(socket) ?? 0;

  function add(socket: WebSocket, calls: number): void {
    const count = countOf(socket) + calls;
    counts.set(socket, count);
    if (count >= CALLS_IN_FLIGHT_MAX) socket.pause();
  }

  function remove(socket: WebSocket, calls: number): void {
    const count = countOf(socket) - calls;
    counts.set(socket, count);
    if (socket.isPaused && count < CALLS_IN_FLIGHT_MAX) socket.resume();
  }

  return {
    begin: (socket) => add(socket, 1),
    end: (socket) => remove(socket, 1),
    isIdle: (socket) => countOf(socket) === 0,
    // Counts as many calls as pause a socket.
    pauseReading: (socket) => add(socket, CALLS_IN_FLIGHT_MAX),
    continueReading: (socket) => remove(socket, CALLS_IN_FLIGHT_MAX),
  };
}
