// The programs that tests need and npm does not install: Redis, a browser, and a C compiler for those of packages/browser-ffi.
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fail, runCommand } from './run-command.mjs';

const NEEDED = [
  { debianPackage: 'redis-server', programs: ['redis-server', 'valkey-server'], brew: 'redis' },
  {
    debianPackage: 'chromium',
    programs: [
      'chromium',
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ],
    brew: '--cask chromium',
  },
];
/** Only the tests of packages/browser-ffi compile something: a browser engine's library. */
const COMPILER = { debianPackage: 'build-essential', programs: ['cc'], brew: 'gcc' };
/** Tests of pages take less CPU time with it; without it they use the browser above. */
const HEADLESS_SHELL = 'chromium-headless-shell';
/** Long tests use them where they are: other stores than the usual ones, and certificates for them. */
const OTHER_STORES = ['openssl', 'pgbouncer', 'valkey-server'];

/**
 * Installs the missing programs of a run of all tests, or of some paths, as root on Debian; otherwise it fails with the command to
 * install them.
 */
export async function ensureSystemPackages({ isLong = false, paths = [] } = {}) {
  const compiles = paths.length === 0 || paths.some((path) => path.includes('browser-ffi'));
  const missing = [...NEEDED, ...(compiles ? [COMPILER] : [])].filter(
    ({ programs }) => !programs.some(isInstalled),
  );
  const names = missing.map(({ debianPackage }) => debianPackage);
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    if (missing.length > 0) await aptInstall(names);
    if (!isInstalled(HEADLESS_SHELL) && !(await tryInstall(HEADLESS_SHELL)))
      process.stdout.write(`${HEADLESS_SHELL} could not be installed; the tests take longer.\n`);
    for (const name of isLong ? OTHER_STORES : []) {
      if (isInstalled(name) || (await tryInstall(name))) continue;
      process.stdout.write(`${name} could not be installed; the tests with it are skipped.\n`);
    }
    return;
  }
  if (missing.length === 0) return;
  const how =
    process.platform === 'darwin'
      ? missing.map(({ brew }) => `brew install ${brew}`).join(' && ')
      : `sudo apt-get update && sudo apt-get install -y ${names.join(' ')}`;
  fail(`The tests need ${names.join(' and ')}. Install with: ${how}`);
}

async function aptInstall(names) {
  const { ok, output } = await runApt(names);
  if (ok) return;
  fail(
    `${names.join(' and ')} could not be installed. Run \`apt-get update && apt-get install -y ${names.join(' ')}\` and then the tests again.`,
    output,
  );
}

/** From the distribution, else from its backports. */
async function tryInstall(name) {
  if ((await runApt([name])).ok) return true;
  const release = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  return release !== undefined && (await runApt([name], backportsOf(release))).ok;
}

/** Flags that add the backports for one command, so that the machine keeps its sources. */
function backportsOf(release) {
  const sources = '/etc/apt/sources.list';
  const file = join(mkdtempSync(join(tmpdir(), 'model-gateway-apt-')), 'sources.list');
  const own = existsSync(sources) ? readFileSync(sources, 'utf8') : '';
  writeFileSync(file, `${own}\ndeb http://deb.debian.org/debian ${release}-backports main\n`);
  return ['-o', `Dir::Etc::sourcelist=${file}`, '-t', `${release}-backports`];
}

async function runApt(names, flagsOfSource = []) {
  process.stdout.write(`Installing ${names.join(' and ')}…\n`);
  // The run level prevents the packages from starting services.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const update = await runCommand('apt-get', ['update', '-qq', ...flagsOfSource], { env });
  const flags = ['install', '-y', '-qq', '--no-install-recommends', ...flagsOfSource];
  const install = await runCommand('apt-get', [...flags, ...names], { env });
  return { ok: install.ok, output: update.output + install.output };
}

function isInstalled(program) {
  const folders = program.startsWith('/') ? [''] : (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
