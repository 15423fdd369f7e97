import type { DestinationStream } from 'pino';

/** The lines of one turn of the event loop, which are written together. */
export interface TurnLines extends DestinationStream {
  /** Writes what is waiting: for a line that must not wait. */
  flush(): void;
}

/** A system call for each line would cost as much as the line. What is waiting when the process ends is written then. */
export function createTurnLines(destination: DestinationStream): TurnLines {
  let waiting = '';
  let isExitWatched = false;

  function flush(): void {
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    destination.write(lines);
  }

  return {
    flush,
    write(line) {
      if (waiting === '') setImmediate(flush);
      waiting += line;
      if (isExitWatched) return;
      isExitWatched = true;
      process.once('exit', flush);
    },
  };
}
