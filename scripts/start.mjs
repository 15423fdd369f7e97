// `npm start`: installs and builds what is missing, then becomes the standalone service, in this very process.
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { endChildrenOnSignal, runCommand } from './run-command.mjs';

const releaseSignals = endChildrenOnSignal();
await ensureToolchain();
await ensureBuilt();
if (!process.env.SERVICE_BUILD_HASH) {
  const { ok, output } = await runCommand('git', ['rev-parse', 'HEAD']);
  if (ok) process.env.SERVICE_BUILD_HASH = output.trim();
}
releaseSignals();
stopWithParent();
await import('../apps/standalone/dist/main.js');

/** Under npm, the end of npm is the end of the service, also when npm was killed and could pass on no signal. */
function stopWithParent() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watch.unref();
}
