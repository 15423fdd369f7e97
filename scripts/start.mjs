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
await import('../apps/standalone/dist/main.js');
