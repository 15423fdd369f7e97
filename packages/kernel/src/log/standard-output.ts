import { writeSync } from 'node:fs';
import { pino, type DestinationStream } from 'pino';

/** How much is kept while nothing can be written, such as on a full disk; what is logged beyond that is lost. */
const KEPT_BYTES_MAX = 1_048_576;

/** Standard output, written to at once. A process goes on where its log cannot be written. */
export function openStandardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true, maxLength: KEPT_BYTES_MAX });
  let isTold = false;
  output.on('error', (error: Error) => {
    if (isTold) return;
    isTold = true;
    tellOnStandardError(`The log cannot be written to standard output: ${error.message}\n`);
  });
  return output;
}

/** It may be on the same full disk. */
function tellOnStandardError(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // There is no other place to report it.
  }
}
