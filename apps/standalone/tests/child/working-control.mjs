// A process that works for as long as one piece of work may take, in CPU time, before it answers. A machine that is busy with
// other things delays it like a service that works.
import { createServer } from 'node:http';

const CONTROL_WORK_MS = 200;
const MICROSECONDS = 1000;

function work() {
  const before = process.cpuUsage();
  for (let used = 0; used < CONTROL_WORK_MS * MICROSECONDS;) {
    const { user, system } = process.cpuUsage(before);
    used = user + system;
  }
}

createServer((request, response) => {
  if (request.url === '/healthz') work();
  response.end('ok');
}).listen(Number(process.env.SERVICE_PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
