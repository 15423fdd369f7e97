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
          .filter(({ name }) => allowed[name] === undefined)
          .map(({ name }) => `${name}: license ${license}`),
  );
}

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

async function audit() {
  const allowed = JSON.parse(readFileSync(join(ROOT, 'scripts/audit-allowed.json'), 'utf8'));
  const advisories = await runCommand('pnpm', ['audit', '--json']);
  const isOffered = !NOT_OFFERED.test(advisories.output);
  const licenses = await runCommand('pnpm', ['licenses', 'list', '--recursive', '--json']);
  const results = {
    ...(isOffered && {
      advisories: problemsOfAdvisories(JSON.parse(advisories.output), allowed.advisories),
    }),
    licenses: problemsOfLicenses(JSON.parse(licenses.output), allowed.licenses),
    'install scripts': problemsOfInstallScripts(installedPackages(), decidedBuilds()),
  };
  if (!isOffered) process.stdout.write('! advisories: not checked, the registry offers none\n');
  for (const [name, problems] of Object.entries(results)) {
    process.stdout.write(`${problems.length === 0 ? '✓' : '✗'} ${name}\n`);
    for (const problem of problems) process.stdout.write(`    ${problem}\n`);
  }
  return Object.values(results).every(({ length }) => length === 0);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  endChildrenOnSignal();
  await ensureToolchain();
  process.exitCode = (await audit()) ? 0 : 1;
}
