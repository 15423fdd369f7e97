// Loaded before a gateway that runs from its sources: notes which of its files run between two messages of its parent.
import { Session } from 'node:inspector';

const OURS = /\/((?:apps|packages)\/[^?]*\/src\/[^?]*\.ts)/;

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** The files with a function that was called since the last time. What runs when a file is loaded is no call. */
function calledFiles() {
  const files = [];
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error !== null) throw error;
    for (const { url, functions } of taken.result) {
      const [, file] = OURS.exec(url) ?? [];
      const isCalled = functions.some(
        ({ functionName, ranges: [{ count, startOffset }] }) =>
          count > 0 && !(functionName === '' && startOffset === 0),
      );
      if (file !== undefined && isCalled) files.push(file);
    }
  });
  return files;
}

process.on('message', () => process.send(calledFiles()));
// The channel must not keep the process alive.
process.channel?.unref();
