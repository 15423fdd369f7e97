import type { DestinationStream } from 'pino';
import { safeLine } from './log-line.ts';

/** Where the lines of a log go. They keep their order. */
export interface LogOutput extends DestinationStream {
  /** For lines of which there are many: those of one turn of the event loop are written together, at its end. */
  writeSoon(line: string): void;
}

/** A pipe takes as much in one piece, so that lines of processes that share one are not mixed. */
const WRITE_CHARS_MAX = 4096;

/** What is still to be written, by output. */
const waitingOutputs = new Set<() => void>();
let writesAtExit = false;

export function createLogOutput(
  destination: DestinationStream,
  format: (line: string) => string = asItIs,
): LogOutput {
  let waiting = '';

  function flush(): void {
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    waitingOutputs.delete(flush);
    destination.write(text);
  }

  return {
    write(line) {
      flush();
      destination.write(safeLine(format(line)));
    },
    writeSoon(given) {
      const line = format(given);
      if (waiting.length + line.length > WRITE_CHARS_MAX) flush();
      if (waiting === '') {
        writeAtExit();
        waitingOutputs.add(flush);
        setImmediate(flush);
      }
      waiting += line;
    },
  };
}

const asItIs = (line: string): string => line;

function writeAtExit(): void {
  if (writesAtExit) return;
  writesAtExit = true;
  process.on('exit', () => {
    for (const flush of waitingOutputs) flush();
  });
}
