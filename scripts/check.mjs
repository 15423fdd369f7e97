// The static checks: `pnpm check`, and the first half of `npm test`.
import { pathToFileURL } from 'node:url';
import { build, ensureToolchain } from './bootstrap.mjs';
import { checkLayers } from './check-layers.mjs';
import { endChildrenOnSignal, runCommand } from './run-command.mjs';

const tool = (name, ...args) => runCommand('node', [`node_modules/${name}`, ...args]);

const LANES = 2;
const CHECKS = [
  { name: 'build', run: build },
  { name: 'types', run: () => tool('typescript/bin/tsc', '-p', 'tsconfig.json') },
  // Its page scripts use the DOM, which the servers must not.
  { name: 'page types', run: () => tool('typescript/bin/tsc', '-p', 'apps/browser-tool') },
  {
    name: 'lint',
    run: () =>
      tool(
        'oxlint/bin/oxlint',
        '--type-aware',
        '--deny-warnings',
        '--report-unused-disable-directives',
      ),
  },
  { name: 'format', run: () => tool('oxfmt/bin/oxfmt', '--check', '.') },
  { name: 'layers', run: () => checkLayers() },
  { name: 'dead code', run: () => tool('knip/bin/knip.js', '--no-progress', '--no-config-hints') },
];

/** Generates the code that is not in git but needed by the type check. */
export function generate() {
  return runCommand('pnpm', ['--silent', '--filter', '@model-gateway/db', 'generate']);
}

/** Runs all checks, prints one line for each, and returns `{ passed, failed, isBuilt }`. */
export async function runChecks() {
  const generated = await generate();
  const outcomes = [report('generate', generated)];
  const queue = [...CHECKS];
  let isBuilt = false;
  const lane = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
      const outcome = await check.run();
      if (check.name === 'build') isBuilt = outcome.ok;
      outcomes.push(report(check.name, outcome));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const passed = outcomes.filter(Boolean).length;
  return { passed, failed: outcomes.length - passed, isBuilt };
}

/** Prints one line for a check, and its output if it failed. */
export function report(name, { ok, output, seconds }) {
  process.stdout.write(`${ok ? '✓' : '✗'} ${name.padEnd(10)} ${seconds.toFixed(1)} s\n`);
  if (!ok) process.stdout.write(`${output.trimEnd()}\n`);
  return ok;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  endChildrenOnSignal();
  await ensureToolchain();
  const { failed } = await runChecks();
  process.exitCode = failed === 0 ? 0 : 1;
}
