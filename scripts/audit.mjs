// `npm run audit`: known advisories of the lockfile, licenses, and install scripts of everything that is installed. What is
// accepted nevertheless is in audit-allowed.json, with the reason.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureToolchain } from './bootstrap.mjs';
import { endChildrenOnSignal, ROOT, runCommand } from './run-command.mjs';

const LICENSES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];
// How the package manager says that the registry has no advisories to offer.
const NOT_OFFERED = /ERR_PNPM_AUDIT_(BAD_RESPONSE|ENDPOINT_NOT_EXISTS|NO_RESPONSE)/;

/** The advisories of a report of `pnpm audit --json` that are not accepted. */
export function problemsOfAdvisories(report, allowed) {
  return Object.values(report.advisories ?? {})
    .filter(({ github_advisory_id: id }) => allowed[id] === undefined)
    .map(
      ({ github_advisory_id: id, module_name: name, severity, title }) =>
        `${name}: ${severity}, ${title} (${id})`,
    );
}

/** The packages of a report of `pnpm licenses list --json` whose license is not accepted. */
export function problemsOfLicenses(report, allowed) {
  return Object.entries(report).flatMap(([license, packages]) =>
    isAccepted(license)
      ? []
      : packages
          .filter(({ name }) => !isNamed(name, Object.keys(allowed)))
          .map(({ name }) => `${name}: license ${license}`),
  );
}

/** A star at the end of a name stands for any text. */
const isNamed = (name, names) =>
  names.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each));

/** Whether an SPDX expression allows us to use and ship a package. */
function isAccepted(expression) {
  const text = expression.replace(/^\((.*)\)$/, '$1');
  if (text.includes(' OR ')) return text.split(' OR ').some(isAccepted);
  return text.split(' AND ').every((part) => LICENSES.has(part));
}

/** The packages with install scripts about which pnpm-workspace.yaml decides nothing. */
export function problemsOfInstallScripts(packages, decided) {
  return packages
    .filter(({ name, scripts = {} }) => {
      const hasScript = INSTALL_SCRIPTS.some((script) => scripts[script] !== undefined);
      return hasScript && !decided.has(name);
    })
    .map(({ name }) => `${name}: has an install script, and allowBuilds does not mention it`);
}

/** The manifests of everything that is installed. */
function installedPackages() {
  const store = join(ROOT, 'node_modules/.pnpm');
  return readdirSync(store, { withFileTypes: true }).flatMap((entry) => {
    const folder = join(store, entry.name, 'node_modules');
    if (!entry.isDirectory() || !existsSync(folder)) return [];
    const names = readdirSync(folder, { withFileTypes: true }).flatMap((inner) =>
      inner.name.startsWith('@') && inner.isDirectory()
        ? readdirSync(join(folder, inner.name)).map((name) => `${inner.name}/${name}`)
        : [inner.name],
    );
    return names
      .map((name) => join(folder, name, 'package.json'))
      .filter((file) => existsSync(file))
      .map((file) => JSON.parse(readFileSync(file, 'utf8')));
  });
}

/** The names under `allowBuilds`, whether their scripts run or not. */
function decidedBuilds() {
  const [, block = ''] = readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8').split(
    /^allowBuilds:$/m,
  );
  return new Set(
    [...block.matchAll(/^ {2}'?([^':]+)'?: (?:true|false)$/gm)].map(([, name]) => name),
  );
}

const readAllowed = () =>
  JSON.parse(readFileSync(join(ROOT, 'scripts/audit-allowed.json'), 'utf8'));

/** The part that needs no registry: licenses and install scripts. */
export async function checkInstalled() {
  const result = await runCommand('pnpm', ['licenses', 'list', '--recursive', '--json']);
  if (!result.ok) return result;
  const problems = [
    ...problemsOfLicenses(JSON.parse(result.output), readAllowed().licenses),
    ...problemsOfInstallScripts(installedPackages(), decidedBuilds()),
  ];
  return { ...result, ok: problems.length === 0, output: problems.join('\n') };
}

/** Undefined if the registry offers no advisories. */
async function checkAdvisories() {
  const result = await runCommand('pnpm', ['audit', '--json']);
  if (NOT_OFFERED.test(result.output)) return undefined;
  const problems = problemsOfAdvisories(JSON.parse(result.output), readAllowed().advisories);
  return { ...result, ok: problems.length === 0, output: problems.join('\n') };
}

async function audit() {
  const advisories = await checkAdvisories();
  const installed = await checkInstalled();
  if (advisories === undefined)
    process.stdout.write('! advisories: not checked, the registry offers none\n');
  else print('advisories', advisories);
  print('licenses, install scripts', installed);
  return installed.ok && advisories?.ok !== false;
}

const print = (name, { ok, output }) =>
  void process.stdout.write(`${ok ? '✓' : '✗'} ${name}\n${ok ? '' : `${output.trimEnd()}\n`}`);

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  endChildrenOnSignal();
  await ensureToolchain();
  process.exitCode = (await audit()) ? 0 : 1;
}
