// The static checks: `pnpm check`, and the first half of `npm test`.
import { pathToFileURL } from 'node:url';
import { checkInstalled } from './audit.mjs';
import { build, ensureToolchain } from './bootstrap.mjs';
import { checkLayers } from './check-layers.mjs';
import { CLEAR_LINE } from './progress.mjs';
import { endChildrenOnSignal, runCommand } from './run-command.mjs';

const tool = (name, args, env) => runCommand('node', [`node_modules/${name}`, ...args], { env });

/** The types are checked together with the rules that need them, so that they are computed once. */
export const LINT_OPTIONS = [
  '--type-aware',
  '--type-check',
  '--deny-warnings',
  '--report-unused-disable-directives',
];

/**
 * Collecting the garbage of the type checker is a quarter of its work and frees a sixth of its memory. Two of its threads would
 * each compute the types that they share; the tests use the other core.
 */
const LINT_ENVIRONMENT = { GOGC: 'off', GOMAXPROCS: '1' };

/** Two checks run at the same time. */
const CHECKS = [
  {
    name: 'types, lint',
    run: () => tool('oxlint/bin/oxlint', LINT_OPTIONS, LINT_ENVIRONMENT),
  },
  { name: 'format', run: () => tool('oxfmt/bin/oxfmt', ['--check', '.']) },
  { name: 'layers', run: () => checkLayers() },
];

/** These find nothing that breaks the service, and the first takes long, so they are not part of `npm test`. */
const MORE_CHECKS = [
  {
    name: 'dead code',
    run: () => tool('knip/bin/knip.js', ['--no-progress', '--no-config-hints']),
  },
  { name: 'licenses', run: () => checkInstalled() },
];

/** Generates the code that is not in git but needed by the type check. */
export function generate() {
  return runCommand('pnpm', ['--silent', '--filter', '@model-gateway/db', 'generate']);
}

/**
 * Runs the checks, or all of them, and prints one line for each. Returns when the build is done, with whether it succeeded and a promise of
 * `{ passed, failed }`, a number and the names: the other checks go on.
 */
export async function startChecks({ isWhole }) {
  const generated = await generate();
  const outcomes = new Map([['generate', report('generate', generated)]]);
  const queue = isWhole ? [...CHECKS, ...MORE_CHECKS] : [...CHECKS];
  const runQueue = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift())
      outcomes.set(check.name, report(check.name, await check.run()));
  };
  const building = build();
  const others = runQueue();
  const built = await building;
  outcomes.set('build', report('build', built));
  const counted = Promise.all([others, runQueue()]).then(() => {
    const failed = [...outcomes].flatMap(([name, ok]) => (ok ? [] : [name]));
    return { passed: outcomes.size - failed.length, failed };
  });
  return { isBuilt: built.ok, counted };
}

/** Prints one line for a check, and its output if it failed. */
export function report(name, { ok, output, seconds }) {
  // The tests may be showing a live line.
  const start = process.stdout.isTTY ? CLEAR_LINE : '';
  process.stdout.write(`${start}${ok ? '✓' : '✗'} ${name.padEnd(11)} ${seconds.toFixed(1)} s\n`);
  if (!ok) process.stdout.write(`${output.trimEnd()}\n`);
  return ok;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  endChildrenOnSignal();
  await ensureToolchain();
  const { counted } = await startChecks({ isWhole: true });
  const { failed } = await counted;
  process.exitCode = failed.length === 0 ? 0 : 1;
}
