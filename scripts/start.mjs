// `npm start`: installs and builds if necessary, then runs the standalone service in this process.
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { portProblem } from './check-port.mjs';
import { endChildrenOnSignal, fail, runCommand } from './run-command.mjs';

const releaseSignals = endChildrenOnSignal();
const problem = await portProblem(process.env);
if (problem !== undefined) fail(problem);
await ensureToolchain();
await ensureBuilt();
if (!process.env.SERVICE_BUILD_HASH) {
  const { ok, output } = await runCommand('git', ['rev-parse', 'HEAD']);
  if (ok) process.env.SERVICE_BUILD_HASH = output.trim();
}
releaseSignals();
stopWithParent();
await import('../apps/standalone/dist/main.js');

/** Ends the service with npm, also if npm was killed and could not forward a signal. */
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
