import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';

// Each process loads only the code that it runs.
if (cluster.isWorker) {
  const { runChild } = await import('./child.ts');
  runChild();
} else {
  const { runStandalone } = await import('./run-standalone.ts');
  await runStandalone(fileURLToPath(import.meta.url));
}
