import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LINES_MAX = 400;
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
// File names that other tools define.
const GIVEN_NAMES =
  /^(README|CHANGELOG|CONTRIBUTING|LICENSE|ARCHITECTURE|SECURITY|Dockerfile|Chart\.yaml|NOTES\.txt|_helpers\.tpl|browser_engine\.h|\..+)/;
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/;
const MIGRATION = /^prisma\/migrations\//;

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

test('file names are in kebab case', () => {
  const named = files.filter((file) => !MIGRATION.test(file) && !GIVEN_NAMES.test(basename(file)));
  expect(named.filter((file) => !KEBAB_CASE.test(basename(file)))).toEqual([]);
});

test('no file or folder has a meaningless name', () => {
  const isMeaningless = (part: string): boolean =>
    FORBIDDEN_NAMES.includes(part.replace(/\..*$/, ''));
  expect(files.filter((file) => file.split('/').some(isMeaningless))).toEqual([]);
});

test(`no source file is longer than ${LINES_MAX} lines`, () => {
  // A translation of the console is one file.
  const sized = code.filter((file) => !file.startsWith('apps/console/src/texts/'));
  expect(sized.filter((file) => read(file).split('\n').length > LINES_MAX + 1)).toEqual([]);
});

test('only config files read the environment', () => {
  const readers = sources.filter(
    (file) => basename(file) !== 'config.ts' && !file.endsWith('.test.ts'),
  );
  expect(matchingLines(readers, /process\.env\b/)).toEqual([]);
});

test('no test is focused or skipped', () => {
  const tests = code.filter((file) => file.endsWith('.test.ts') || file.includes('/tests/'));
  expect(
    matchingLines(
      tests,
      /\b(test|it|describe)\.(only|skip|todo|failing)\b|\b(xit|xtest|fit|fdescribe|xdescribe)\(/,
    ),
  ).toEqual([]);
});

test('comments contain no open tasks', () => {
  // The brackets prevent a match with this line.
  const marks = /\b([T]ODO|[F]IXME|[X]XX)\b/;
  expect(matchingLines(texts, marks)).toEqual([]);
});

test('no text names a machine, a registry or a folder of a developer', () => {
  const traces = /[/]work\/|[/]home\/[a-z]|[/]Users\/[a-z]|registry[.]npmjs/;
  expect(matchingLines(texts, traces)).toEqual([]);
});

test('every export of a package has a source entry', () => {
  const manifests = files.filter((file) => /^(apps|packages)\/[^/]+\/package\.json$/.test(file));
  const missing = manifests.flatMap((file) => {
    const { exports = {} } = JSON.parse(read(file)) as {
      readonly exports?: Record<string, { 'model-gateway-source'?: string }>;
    };
    return Object.entries(exports)
      .filter(
        ([, { 'model-gateway-source': source }]) =>
          source === undefined || !existsSync(join(ROOT, file, '..', source)),
      )
      .map(([name]) => `${file} ${name}`);
  });
  expect(missing).toEqual([]);
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

test('the entry of a package exports only what other packages, apps, scripts or tests import', () => {
  // The client is published: its users are elsewhere.
  const manifests = files.filter((file) =>
    /^packages\/(?!client\/)[^/]+\/package\.json$/.test(file),
  );
  const unused = manifests.flatMap((file) => {
    const home = dirname(file);
    const { name, exports = {} } = JSON.parse(read(file)) as {
      readonly name: string;
      readonly exports?: Record<
        string,
        { readonly 'model-gateway-source': string; readonly default: string }
      >;
    };
    return Object.entries(exports).flatMap(
      ([entry, { 'model-gateway-source': source, default: built }]) => {
        const exported = namesIn(read(join(home, source)), /export (?:type )?\{([^}]*)\}/g);
        const specifiers = [name + entry.slice(1), join(home, source), join(home, built)];
        const imported = new Set(
          code
            .filter((user) => !user.startsWith(`${home}/`))
            .flatMap((user) => importsOf(read(user), specifiers)),
        );
        return exported.filter((one) => !imported.has(one)).map((one) => `${home}: ${one}`);
      },
    );
  });
  expect(unused).toEqual([]);
});

/** The names that a text imports from one of the specifiers, whatever it calls them. */
function importsOf(text: string, specifiers: readonly string[]): readonly string[] {
  const imports = /\{([^}]*)\}\s*(?:from|= await import\()\s*'([^']+)'/g;
  return [...text.matchAll(imports)].flatMap(([, list = '', from = '']) =>
    specifiers.some((specifier) => from.endsWith(specifier))
      ? list.split(',').map((name) => name.trim().replace(/^type |( as |:).*/g, ''))
      : [],
  );
}

/** The names in the braces that a pattern finds, without `type` and renamings. */
function namesIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, list = '']) =>
    list
      .split(',')
      .map((name) => name.trim().replace(/^type |.* as /g, ''))
      .filter((name) => name !== ''),
  );
}
