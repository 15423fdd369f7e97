// `npm run -s gateway -- …`: the command line of this checkout.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { continueOnNode24 } from './node24.mjs';
import { fail, ROOT } from './run-command.mjs';
import { startProblem } from './start-problems.mjs';

const main = join(ROOT, 'apps', 'cli', 'dist', 'main.js');
if (!existsSync(main)) fail(startProblem('not_built'));
await continueOnNode24();
await import(pathToFileURL(main).href);
