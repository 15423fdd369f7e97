import { readFileSync } from 'node:fs';
import { createWorkerProcesses } from './worker-processes.ts';
test('rss', async () => {
  const processes = await createWorkerProcesses({});
  const worker = await processes.start();
  for (let i = 0; i < 3; i += 1) {
    await new Promise((r) => setTimeout(r, 4000));
    console.log(/VmRSS.*/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))?.[0]);
  }
  await processes.close();
}, 60_000);
