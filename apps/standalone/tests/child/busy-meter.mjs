// Loaded into a process under test (NODE_OPTIONS=--import): reports for how long one piece of work kept its event loop
// busy, in CPU time of the main thread. That is the same on a machine that is busy with other things.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const BEAT_MS = 5;
const port = Number(process.env.TEST_BUSY_METER_PORT);

/** In nanoseconds; the first number of schedstat. */
const cpuNs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]);

let lastNs = cpuNs();
let longestNs = 0;
function beat() {
  const now = cpuNs();
  longestNs = Math.max(longestNs, now - lastNs);
  lastNs = now;
}
setInterval(beat, BEAT_MS).unref();

// Answers with the milliseconds of the longest piece since the last question.
createServer((_request, response) => {
  beat();
  // A kept connection may be closed in the moment in which a busy client uses it again.
  response.setHeader('connection', 'close');
  response.end(String(longestNs / 1e6));
  longestNs = 0;
})
  .listen(port, '127.0.0.1')
  .unref();
