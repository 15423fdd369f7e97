// Checks that the licenses of all dependencies allow to use and ship them.
import { runCommand } from './run-command.mjs';

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
/** Accepted nevertheless, with the reason. */
const ALLOWED = {
  '@visx/vendor':
    'MIT and ISC, written in words; part of the command line of Prisma, which no server loads',
  'axe-core': 'MPL-2.0, used unchanged in tests of the console; not shipped',
  'caniuse-lite': 'data of dependencies of jest; not shipped',
  elkjs: 'EPL-2.0, used unchanged; part of the command line of Prisma, which no server loads',
  lightningcss: 'MPL-2.0, used unchanged to build the styles of the console; not shipped',
};

/** Whether an SPDX expression allows to use and ship a package. */
function isAccepted(expression) {
  const text = expression.replace(/^\((.*)\)$/, '$1');
  if (text.includes(' OR ')) return text.split(' OR ').some(isAccepted);
  return text.split(' AND ').every((part) => LICENSES.has(part));
}

/** The binaries of a library have its name and one platform each. */
const isAllowed = (name) =>
  Object.keys(ALLOWED).some((allowed) => name === allowed || name.startsWith(`${allowed}-`));

export async function checkLicenses() {
  const result = await runCommand('pnpm', ['licenses', 'list', '--recursive', '--json']);
  if (!result.ok) return result;
  const problems = Object.entries(JSON.parse(result.output)).flatMap(([license, packages]) =>
    isAccepted(license)
      ? []
      : packages
          .filter(({ name }) => !isAllowed(name))
          .map(({ name }) => `${name}: license ${license}`),
  );
  return { ...result, ok: problems.length === 0, output: problems.join('\n') };
}
