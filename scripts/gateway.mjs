// `npm run -s gateway -- …`: the command line of this checkout, and the commands of an operator on its database.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { continueOnNode24 } from './node24.mjs';
import { fail, ROOT } from './run-command.mjs';
import { startProblem } from './start-problems.mjs';

/** They need the database, unlike the command line, which talks to a service. */
const OPERATOR_COMMANDS = {
  'config:check': 'apps/standalone/dist/config-check-main.js',
  'db:migrate': 'packages/db/dist/migrate-main.js',
  'usage:rejected': 'apps/standalone/dist/rejected-usage-main.js',
  'usage:sums': 'apps/standalone/dist/usage-sums-main.js',
};

const [, , command] = process.argv;
const operator = Object.hasOwn(OPERATOR_COMMANDS, command ?? '');
const main = join(ROOT, operator ? OPERATOR_COMMANDS[command] : 'apps/cli/dist/main.js');
if (!existsSync(main)) fail(startProblem('not_built'));
await continueOnNode24();
if (operator) process.argv.splice(1, 2, main);
await import(pathToFileURL(main).href);
