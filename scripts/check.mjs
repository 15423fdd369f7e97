// The static checks: `pnpm check`, and the first half of `npm test`.
import { pathToFileURL } from 'node:url';
import { build, ensureToolchain } from './bootstrap.mjs';
import { checkLicenses } from './check-licenses.mjs';
import { CLEAR_LINE } from './progress.mjs';
import { endChildrenOnSignal, runCommand } from './run-command.mjs';

const tool = (name, args, env) => runCommand('node', [`node_modules/${name}`, ...args], { env });

/** The types are checked together with the rules that need them, so that they are computed once. */
const LINT_OPTIONS = [
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

const MODULES_MIN = 60;

/** Without a parser for TypeScript the graph would be empty and break no rule. */
async function checkLayers() {
  const result = await tool('dependency-cruiser/bin/dependency-cruise.mjs', [
    '--config',
    '.dependency-cruiser.mjs',
    'apps',
    'packages',
  ]);
  const modules = Number(/(\d+) modules/.exec(result.output)?.[1] ?? 0);
  if (modules >= MODULES_MIN) return result;
  return { ...result, ok: false, output: `${result.output}only ${modules} modules were found\n` };
}

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
  { name: 'licenses', run: () => checkLicenses() },
];

/** Generates the code that is not in git but needed by the type check. */
export function generate() {
  return runCommand('pnpm', ['--silent', '--filter', '@model-gateway/db', 'generate']);
}

const SETS = { short: CHECKS, long: MORE_CHECKS, all: [...CHECKS, ...MORE_CHECKS] };

/**
 * Runs the short checks, the long ones or all, and prints one line for each. Returns when the build is done, with whether it succeeded
 * and a promise of `{ passed, failed }`, a number and the names: the other checks go on.
 *
 * @param {keyof typeof SETS} set
 */
export async function startChecks(set) {
  const generated = await generate();
  const outcomes = new Map([['generate', report('generate', generated)]]);
  const queue = [...SETS[set]];
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
  const { counted } = await startChecks('all');
  const { failed } = await counted;
  process.exitCode = failed.length === 0 ? 0 : 1;
}
