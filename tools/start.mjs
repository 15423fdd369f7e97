// `node --conditions=model-gateway-source scripts/node24.mjs tools/start.mjs FILE [arguments]` runs a TypeScript file of these
// tools on the sources of our packages, once everything is installed and the apps are built.
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { ensureBuilt, ensureToolchain } from '../scripts/bootstrap.mjs';

const [, , file] = process.argv;
process.argv.splice(1, 2, resolve(file));
await ensureToolchain();
await ensureBuilt();
await import(pathToFileURL(process.argv[1]).href);
