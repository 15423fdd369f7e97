// The programs that tests need and npm does not install: Redis, a browser, and a C compiler for a browser engine's library.
import { accessSync, constants, existsSync } from 'node:fs';
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
  { debianPackage: 'build-essential', programs: ['cc'], brew: 'gcc' },
];
/** Tests of pages take less CPU time with it; without it they use the browser above. */
const HEADLESS_SHELL = 'chromium-headless-shell';

/** Installs missing programs as root on Debian; otherwise it fails with the command to install them. */
export async function ensureSystemPackages() {
  const missing = NEEDED.filter(({ programs }) => !programs.some(isInstalled));
  const names = missing.map(({ debianPackage }) => debianPackage);
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    if (missing.length > 0) await aptInstall(names);
    if (!isInstalled(HEADLESS_SHELL)) await tryInstall(HEADLESS_SHELL);
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

async function tryInstall(name) {
  const { ok } = await runApt([name]);
  if (!ok) process.stdout.write(`${name} could not be installed; the tests take longer.\n`);
}

async function runApt(names) {
  process.stdout.write(`Installing ${names.join(' and ')}…\n`);
  // The run level prevents the packages from starting services.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const update = await runCommand('apt-get', ['update', '-qq'], { env });
  const flags = ['install', '-y', '-qq', '--no-install-recommends'];
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
