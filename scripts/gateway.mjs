// `npm run -s gateway -- …`: the command line of this checkout.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { fail, ROOT } from './run-command.mjs';
import { nodeProblem, startProblem } from './start-problems.mjs';

const main = join(ROOT, 'apps', 'cli', 'dist', 'main.js');
const problem = nodeProblem(process.versions.node);
if (problem !== undefined) fail(problem);
if (!existsSync(main)) fail(startProblem('not_built'));
await import(pathToFileURL(main).href);
