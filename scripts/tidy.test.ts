import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FORBIDDEN_NAMES = [
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'shared',
  'manager',
  'misc',
];

const files = existsSync(join(ROOT, '.git')) ? filesOfGit() : filesBelow('');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const code = files.filter((file) => /\.(ts|mjs)$/.test(file));
const sources = code.filter((file) => /^(apps|packages)\/[^/]+\/src\//.test(file));
const texts = files.filter((file) =>
  /\.(ts|mjs|js|json|md|ya?ml|sql|prisma|html|css|sh|conf)$/.test(file),
);

function filesOfGit(): readonly string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: ROOT },
  );
  return listed
    .toString()
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)));
}

function filesBelow(folder: string): readonly string[] {
  const skipped = new Set([
    'node_modules',
    'dist',
    'generated',
    '.git',
    '.turbo',
    '.tools',
    '.data',
  ]);
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** The lines that match a pattern, as `file:line`. */
function matchingLines(among: readonly string[], pattern: RegExp): readonly string[] {
  return among.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
  );
}

test('the files of the repository are seen', () => {
  expect(sources.length).toBeGreaterThan(50);
});

test('every app and package has a README', () => {
  const folders = [...new Set(sources.map((file) => file.split('/').slice(0, 2).join('/')))];
  expect(folders.filter((folder) => !existsSync(join(ROOT, folder, 'README.md')))).toEqual([]);
});

// The console is no process but a page.
test('every app that runs as a process has a main, a config and an app', () => {
  const processes = sources.filter(
    (file) => file.startsWith('apps/') && !file.startsWith('apps/console/'),
  );
  const apps = [...new Set(processes.map((file) => file.split('/')[1]))];
  const missing = apps.flatMap((app) =>
    ['main.ts', 'config.ts', 'app.ts']
      .map((name) => `apps/${app}/src/${name}`)
      .filter((file) => !existsSync(join(ROOT, file))),
  );
  expect(missing).toEqual([]);
});

test('no file or folder has a meaningless name', () => {
  const isMeaningless = (part: string): boolean =>
    FORBIDDEN_NAMES.includes(part.replace(/\..*$/, ''));
  expect(files.filter((file) => file.split('/').some(isMeaningless))).toEqual([]);
});

test('no text names a machine, a registry or a folder of a developer', () => {
  const traces = /[/]work\/|[/]home\/[a-z]|[/]Users\/[a-z]|registry[.]npmjs/;
  expect(matchingLines(texts, traces)).toEqual([]);
});

test('every path that a document names exists, from the root or from beside the document', () => {
  const path =
    /`((?:apps|docs|infra|packages|prisma|scripts|tools\/(?:bench|chaos|fuzz))\/[\w./-]*)`/g;
  const named = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => [...read(file).matchAll(path)].map(([, to = '']) => ({ file, to })));
  const tour = named.filter(({ file }) => file === 'ARCHITECTURE.md');
  expect(tour.length).toBeGreaterThan(40);
  const missing = named.filter(
    ({ file, to }) => !existsSync(join(ROOT, to)) && !existsSync(join(ROOT, dirname(file), to)),
  );
  expect(missing).toEqual([]);
});
