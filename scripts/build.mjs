// `npm run build`: installs if necessary, then builds every package and app that has changed.
import { ensureBuilt, ensureToolchain } from './bootstrap.mjs';
import { endChildrenOnSignal } from './run-command.mjs';

endChildrenOnSignal();
await ensureToolchain();
await ensureBuilt();
