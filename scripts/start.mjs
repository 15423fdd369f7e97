// `npm start`: installs and builds if necessary, then runs the standalone service in this process.
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { portProblem } from './check-port.mjs';
import { endChildrenOnSignal, fail, runCommand } from './run-command.mjs';
import { stopWithParent } from './stop-with-parent.mjs';

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
