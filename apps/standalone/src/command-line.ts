import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from '@model-gateway/kernel';

/** Where the command line is, seen from the program that was started: in the npm package, and in a checkout. */
const PLACES = ['../cli/main.js', '../../cli/dist/main.js'];

/**
 * How a person calls the command line in this installation. By its path: a name could be that of a foreign package.
 * Undefined if it is not part of the installation.
 */
export function commandLineOf(
  environment: Environment,
  program: string | undefined,
): string | undefined {
  if (environment['npm_lifecycle_event'] === 'start') return 'npm run -s gateway --';
  if (program === undefined) return undefined;
  const folder = dirname(realpathSync(program));
  const found = PLACES.map((place) => join(folder, place)).find((path) => existsSync(path));
  return found === undefined ? undefined : `node ${found}`;
}
