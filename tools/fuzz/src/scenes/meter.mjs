// Loaded into a process under test: answers for how long one piece of work kept its event loop busy since the last question, in
// CPU time, which is the same on a machine that is busy with other things, and whether a case changed the prototype of objects.
import { createServer } from 'node:http';

const BEAT_MS = 5;
const prototypeKeys = Reflect.ownKeys(Object.prototype).length;

/** In microseconds. */
function cpuTime() {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

let last = cpuTime();
let longest = 0;
function beat() {
  const now = cpuTime();
  longest = Math.max(longest, now - last);
  last = now;
}
setInterval(beat, BEAT_MS).unref();

createServer((_request, response) => {
  beat();
  const isPolluted = Reflect.ownKeys(Object.prototype).length !== prototypeKeys;
  response.setHeader('connection', 'close');
  response.end(JSON.stringify({ busyMs: longest / 1000, isPolluted }));
  longest = 0;
})
  // Processes that it starts load this too; the first one is asked.
  .on('error', () => undefined)
  .listen(Number(process.env.FUZZ_METER_PORT), '127.0.0.1')
  .unref();
