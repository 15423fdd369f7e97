// Prepares a fresh clone on a machine with only Node and npm, so that everything can be built and run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensureTool } from './ensure-tool.mjs';
import { longStep } from './progress.mjs';
import { fail, ROOT, runCommand } from './run-command.mjs';
import { startProblem } from './start-problems.mjs';

/** What pnpm says of a package that is on this machine. */
const FETCHED = new Set(['fetched', 'found_in_store']);
const STAMPS = join(ROOT, 'node_modules', '.stamps');
const API_CLIENTS = 'api-clients';
/**
 * What is installed and built: all, or for `npm start` only these apps and what they depend on. Where all is there, the service
 * is too.
 */
const FILTERS = { all: [], service: ['standalone...', 'cli...'] };

/**
 * Fetches the pinned pnpm, which turbo and the scripts of packages call by name, and installs dependencies if they have changed.
 *
 * @param {keyof typeof FILTERS} part
 */
export async function ensureToolchain(part = 'all') {
  const stamp = hashOf(
    [...manifests(), 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
    [process.version, process.arch, process.platform],
  );
  await ensureTool('pnpm');
  if (isDone('install', part, stamp)) return;
  removeStamp('install');
  // Of the packages that they depend on, also what only development needs: it builds them.
  const filters = FILTERS[part].map((filter) => `--filter-prod=${filter}`);
  await install('Dependencies', ['--prod=false', ...filters]);
  saveStamp('install', `${part} ${stamp}`);
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

/**
 * Builds the apps and packages of a part if something has changed since the last build.
 *
 * @param {keyof typeof FILTERS} part
 */
export async function ensureBuilt(part = 'all') {
  if (isDone('build', part, [hashOfSources(), ...builtFolders()].join(' '))) return;
  const { ok } = await longStep('Build', 'compiling packages and apps', (report) =>
    build({ part, onLine: buildProgress(report) }),
  );
  if (!ok) fail(startProblem('build_failed'), (await build({ part })).output);
}

/** Builds with turbo, which skips unchanged packages. It prints either what begins, for `onLine`, or the output of what fails. */
export async function build({ part = 'all', onLine } = {}) {
  const sources = hashOfSources();
  removeStamp('build');
  const logs = `--output-logs=${onLine === undefined ? 'errors-only' : 'hash-only'}`;
  const filters = FILTERS[part].map((filter) => `--filter=${filter}`);
  const result = await runCommand(
    'node',
    ['node_modules/turbo/bin/turbo', 'run', 'build', logs, ...filters],
    {
      env: { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' },
      onLine,
    },
  );
  if (result.ok) saveStamp('build', [part, sources, ...builtFolders()].join(' '));
  return result;
}

function hashOfSources() {
  return hashOf([
    ...workspaceFolders().flatMap((folder) => [
      ...['src', 'scripts', 'public'].flatMap((name) => filesBelow(join(folder, name))),
      ...['package.json', 'index.html', 'vite.config.mjs'].map((name) => join(folder, name)),
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
}

/** Part of the stamp of a build, so that one that was removed is made again. */
function builtFolders() {
  return workspaceFolders().filter((folder) => existsSync(join(ROOT, folder, 'dist')));
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
  const grouped = ['apps', 'packages', 'tools']
    .filter((group) => existsSync(join(ROOT, group)))
    .flatMap((group) => readdirSync(join(ROOT, group)).map((name) => join(group, name)));
  const ofTests = grouped.map((folder) => join(folder, 'tests'));
  return [...grouped, ...ofTests, 'infra', 'scripts'].filter((folder) =>
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

function isDone(name, part, stamp) {
  return isFresh(name, `all ${stamp}`) || isFresh(name, `${part} ${stamp}`);
}

function isFresh(name, stamp) {
  const file = join(STAMPS, name);
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

/** Before work that may be interrupted. */
function removeStamp(name) {
  rmSync(join(STAMPS, name), { force: true });
}

function saveStamp(name, stamp) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(join(STAMPS, name), stamp);
}
