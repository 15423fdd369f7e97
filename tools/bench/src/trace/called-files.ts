// Loaded before a service that runs from its sources: answers which of its files have run since the last question.
import { createServer } from 'node:http';
import { Session, type Profiler } from 'node:inspector';

const OURS = /\/((?:apps|packages)\/[^?]*\/src\/[^?]*\.ts)/;

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** The files with a function that was called. What runs when a file is loaded is no call. */
function calledFiles({ result }: Profiler.TakePreciseCoverageReturnType): readonly string[] {
  return result.flatMap(({ url, functions }) => {
    const [, file] = OURS.exec(url) ?? [];
    const isCalled = functions.some(
      ({ functionName, ranges: [range] }) =>
        (range?.count ?? 0) > 0 && !(functionName === '' && range?.startOffset === 0),
    );
    return file !== undefined && isCalled ? [file] : [];
  });
}

createServer((_request, response) => {
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error !== null) throw error;
    response.setHeader('connection', 'close');
    response.end(JSON.stringify(calledFiles(taken)));
  });
})
  // Processes that it starts load this too; the first one is asked.
  .on('error', () => undefined)
  .listen(Number(process.env['TRACE_PORT']), '127.0.0.1')
  .unref();
