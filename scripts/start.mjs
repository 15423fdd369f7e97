// `npm start`: installs and builds if necessary, then runs the standalone service in this process.
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { portProblem } from './check-port.mjs';
import { continueOnNode24 } from './node24.mjs';
import { endChildrenOnSignal, fail, runCommand } from './run-command.mjs';

const problem = await portProblem(process.env);
if (problem !== undefined) fail(problem);
await continueOnNode24();
const releaseSignals = endChildrenOnSignal();
await ensureToolchain('service');
await ensureBuilt('service');
if (!process.env.SERVICE_BUILD_HASH) {
  const { ok, output } = await runCommand('git', ['rev-parse', 'HEAD']);
  if (ok) process.env.SERVICE_BUILD_HASH = output.trim();
}
releaseSignals();
await import('../apps/standalone/dist/main.js');
