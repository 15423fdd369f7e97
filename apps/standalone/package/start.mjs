#!/usr/bin/env node
// The command of the npm package: starts the service, or says that this Node is too old to load it.
import { nodeProblem } from '../../../scripts/start-problems.mjs';
import { stopWithParent } from '../../../scripts/stop-with-parent.mjs';

const problem = nodeProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
stopWithParent();
// Beside this file in the package, not in the repository.
await import(new URL('../service/main.js', import.meta.url).href);
