#!/usr/bin/env node
// The command of the npm package: starts the service.
const NODE_MIN = [20, 19];
const USAGE = `model-gateway: starts Model Gateway, one OpenAI-compatible API for every model backend.

  npx model-gateway             starts on http://127.0.0.1:8080 with embedded stores and a demo model
  npx model-gateway --help      shows this
  npx model-gateway --version   shows the version

Settings are environment variables, for example:
  SERVICE_PORT=8090             the port
  SERVICE_HOST=0.0.0.0          the address to listen on; put TLS in front of it
  SERVICE_DATA_DIR=~/gateway    embedded stores, generated secrets and the usage journal; else .data in this folder
  DATABASE_URL, REDIS_URL       stores of your own
  SERVICE_DEMO=0                no demo model
`;

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  process.stderr.write(
    `Node ${NODE_MIN.join('.')} or newer is required, this is ${process.versions.node}: install a newer one from nodejs.org or with your package manager.\n`,
  );
  process.exit(1);
}
const [argument] = process.argv.slice(2);
if (argument === undefined) {
  // Beside this file in the package, not in the repository.
  await import(new URL('../service/main.js', import.meta.url).href);
} else if (argument === '--help' || argument === '-h') {
  process.stdout.write(USAGE);
} else if (argument === '--version' || argument === '-v') {
  const { readFileSync } = await import('node:fs');
  const file = new URL('../package.json', import.meta.url);
  process.stdout.write(`${JSON.parse(readFileSync(file, 'utf8')).version}\n`);
} else {
  process.stderr.write(`unknown argument ${argument}\n\n${USAGE}`);
  process.exit(2);
}
