// Prepares a fresh clone on a machine with only Node and npm, so that everything can be built and run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensureTool } from './ensure-tool.mjs';
import { longStep } from './progress.mjs';
import { fail, ROOT, runCommand } from './run-command.mjs';
import { startProblem } from './start-problems.mjs';

/** What pnpm says of a package that is on this machine. */
const FETCHED = new Set(['fetched', 'found_in_store']);
const STAMPS = join(ROOT, 'node_modules', '.stamps');
const API_CLIENTS = 'api-clients';

/** Fetches the pinned pnpm, which turbo and the scripts of packages call by name, and installs dependencies if they have changed. */
export async function ensureToolchain() {
  const stamp = hashOf(
    [...manifests(), 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
    [process.version, process.arch, process.platform],
  );
  await ensureTool('pnpm');
  if (isFresh('install', stamp)) return;
  await install('Dependencies', ['--prod=false']);
  saveStamp('install', stamp);
}

/** Installs the generators of clients, which only one long test needs. */
export async function ensureApiClients() {
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'];
  const stamp = hashOf(files.map((file) => join(API_CLIENTS, file)));
  const isInstalled = existsSync(join(ROOT, API_CLIENTS, 'node_modules'));
  if (isInstalled && isFresh('api-clients', stamp)) return;
  await install('Client generators', ['--ignore-scripts', '--dir', join(ROOT, API_CLIENTS)]);
  saveStamp('api-clients', stamp);
}

async function install(title, flags) {
  const args = ['install', '--frozen-lockfile', '--reporter=ndjson', ...flags];
  const { ok, output } = await longStep(title, 'downloading npm packages', (report) =>
    runCommand('pnpm', args, { env: { CI: '1' }, onLine: installProgress(report) }),
  );
  // Errors are plain text between the events.
  const errors = output.replaceAll(/^\{.*\n?/gm, '');
  if (!ok && /ERR_PNPM_\w*LOCKFILE/.test(errors)) fail(startProblem('lockfile_outdated'), errors);
  if (!ok) fail(startProblem('no_dependencies'), errors);
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
  const { ok } = await longStep('Build', 'compiling all packages and apps', (report) =>
    build({ onLine: buildProgress(report) }),
  );
  if (!ok) fail(startProblem('build_failed'), (await build()).output);
  saveStamp('build', stamp);
}

/** Builds with turbo, which skips unchanged packages. It prints either what begins, for `onLine`, or the output of what fails. */
export function build({ onLine } = {}) {
  const logs = `--output-logs=${onLine === undefined ? 'errors-only' : 'hash-only'}`;
  return runCommand('node', ['node_modules/turbo/bin/turbo', 'run', 'build', logs], {
    env: { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' },
    onLine,
  });
}

/** Reads the events of pnpm. */
function installProgress(report) {
  let done = 0;
  let total = 0;
  return (line) => {
    const event = line.startsWith('{') ? JSON.parse(line) : {};
    if (event.name === 'pnpm:stats') total += event.added ?? 0;
    if (event.name !== 'pnpm:progress' || !FETCHED.has(event.status)) return;
    done += 1;
    report(done, total);
  };
}

/** Reads the lines of turbo, one for each package that is being built. */
function buildProgress(report) {
  let begun = 0;
  let total = 0;
  return (line) => {
    total = Number(/Running build in (\d+) packages/.exec(line)?.[1] ?? total);
    if (!/^\S+:build: cache /.test(line)) return;
    begun += 1;
    report(begun, total);
  };
}

function manifests() {
  return ['package.json', ...workspaceFolders().map((folder) => join(folder, 'package.json'))];
}

function workspaceFolders() {
  const grouped = ['apps', 'packages'].flatMap((group) =>
    readdirSync(join(ROOT, group)).map((name) => join(group, name)),
  );
  return [...grouped, 'chaos', 'fuzz', 'infra'].filter((folder) =>
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
