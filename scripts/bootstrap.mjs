// Prepares a fresh clone on a machine with only Node and npm, so that everything can be built and run.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { longStep } from './progress.mjs';
import { fail, ROOT, runCommand } from './run-command.mjs';

const NODE_MIN = [20, 19];
const TOOLS = join(ROOT, '.tools');
const STAMPS = join(ROOT, 'node_modules', '.stamps');

/** Checks Node, finds or installs the pinned pnpm, and installs dependencies if they have changed. */
export async function ensureToolchain() {
  checkNode();
  const stamp = hashOf(
    [...manifests(), 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
    [process.version, process.arch, process.platform],
  );
  const pnpm = await ensurePnpm();
  if (isFresh('install', stamp)) return;
  const { ok, output } = await longStep('Dependencies', 'downloading npm packages', () =>
    runCommand(pnpm, ['install', '--frozen-lockfile', '--prod=false'], { env: { CI: '1' } }),
  );
  if (!ok && /ERR_PNPM_\w*LOCKFILE/.test(output)) {
    fail('pnpm-lock.yaml does not match the package.json files; run `pnpm install` once.', output);
  }
  if (!ok) {
    fail(
      'Dependencies could not be installed. Check that this machine can reach the npm registry (network, proxy, registry setting) and has free disk space, then run the command again.',
      output,
    );
  }
  saveStamp('install', stamp);
}

/** Builds every app and package if something has changed since the last build. */
export async function ensureBuilt() {
  const folders = workspaceFolders();
  const stamp = hashOf([
    ...folders.flatMap((folder) => [
      ...filesBelow(join(folder, 'src')),
      ...filesBelow(join(folder, 'scripts')),
      join(folder, 'package.json'),
    ]),
    ...filesBelow('prisma'),
    'prisma.config.ts',
    'scripts/bundle-app.mjs',
    'scripts/bundle-options.mjs',
    'scripts/compile.mjs',
    'scripts/no-http2.mjs',
    'turbo.json',
    'pnpm-lock.yaml',
  ]);
  const isComplete = folders.every(
    (folder) =>
      manifest(join(folder, 'package.json')).scripts?.build === undefined ||
      existsSync(join(ROOT, folder, 'dist')),
  );
  if (isComplete && isFresh('build', stamp)) return;
  const { ok, output } = await longStep('Build', 'compiling all packages and apps', build);
  if (!ok) fail('The build failed; see the output above.', output);
  saveStamp('build', stamp);
}

/** Builds with turbo, which skips unchanged packages. */
export function build() {
  return runCommand(
    'node',
    ['node_modules/turbo/bin/turbo', 'run', 'build', '--output-logs=errors-only'],
    {
      env: { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' },
    },
  );
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`Node ${NODE_MIN.join('.')} or newer is required; this is ${process.versions.node}.`);
}

/** The pnpm version that package.json pins: from the PATH if it has that version, otherwise installed in .tools. */
async function ensurePnpm() {
  const version = /^pnpm@([^+]+)/.exec(manifest('package.json').packageManager)[1];
  const own = join(TOOLS, 'node_modules', '.bin');
  const isOwn = () => readVersion(join(TOOLS, 'node_modules', 'pnpm', 'package.json')) === version;
  if (!isOwn()) {
    const onPath = await runCommand('pnpm', ['--version']);
    if (onPath.ok && onPath.output.trim() === version) return 'pnpm';
    rmSync(TOOLS, { recursive: true, force: true });
    mkdirSync(TOOLS, { recursive: true });
    // Without this file npm would use the package.json of a parent folder.
    writeFileSync(join(TOOLS, 'package.json'), '{ "private": true }\n');
    const flags = [
      '--no-save',
      '--no-update-notifier',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const { ok, output } = await longStep(`pnpm ${version}`, 'installing it into .tools', () =>
      runCommand('npm', ['install', '--prefix', TOOLS, ...flags, `pnpm@${version}`]),
    );
    if (!ok || !isOwn()) {
      fail(
        `pnpm ${version} could not be installed. Check that this machine can reach the npm registry (network, proxy, registry setting), then run the command again.`,
        output,
      );
    }
  }
  // Turbo and the scripts of packages call pnpm by name.
  process.env.PATH = `${own}${delimiter}${process.env.PATH ?? ''}`;
  return join(own, 'pnpm');
}

function manifests() {
  return ['package.json', ...workspaceFolders().map((folder) => join(folder, 'package.json'))];
}

function workspaceFolders() {
  const grouped = ['apps', 'packages'].flatMap((group) =>
    readdirSync(join(ROOT, group)).map((name) => join(group, name)),
  );
  return [...grouped, 'fuzz', 'infra'].filter((folder) =>
    existsSync(join(ROOT, folder, 'package.json')),
  );
}

function filesBelow(folder) {
  const whole = join(ROOT, folder);
  if (!existsSync(whole)) return [];
  return readdirSync(whole, { recursive: true })
    .map((name) => join(whole, name))
    .filter((file) => statSync(file).isFile() && !isIgnored(file))
    .map((file) => relative(ROOT, file));
}

/** Generated by the build, or not part of it. */
function isIgnored(file) {
  return file.endsWith('.test.ts') || file.includes(join('src', 'generated'));
}

function hashOf(files, more = []) {
  const hash = createHash('sha256').update(more.join(' '));
  for (const file of files.toSorted()) {
    const whole = join(ROOT, file);
    if (existsSync(whole)) hash.update(file).update(readFileSync(whole));
  }
  return hash.digest('hex');
}

function isFresh(name, stamp) {
  const file = join(STAMPS, name);
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

function saveStamp(name, stamp) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(join(STAMPS, name), stamp);
}

function manifest(file) {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
}

function readVersion(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}
