import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FIELDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

const below = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder))
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(ROOT, path, 'package.json')));

/** What the manifest of a folder asks for, without our own packages. */
function dependenciesOf(folder: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Record<
    string,
    Readonly<Record<string, string>> | undefined
  >;
  const wanted = FIELDS.flatMap((field) => Object.entries(manifest[field] ?? {}));
  return wanted.filter(([, version]) => !version.startsWith('workspace:')).map(([name]) => name);
}

const members = [...below('apps'), ...below('packages'), ...below('tools')];
const ofTests = members
  .map((folder) => join(folder, 'tests'))
  .filter((folder) => existsSync(join(ROOT, folder, 'package.json')));
const used = new Set(
  ['.', 'infra', 'scripts', ...members, ...ofTests].flatMap((folder) => dependenciesOf(folder)),
);

test('the catalog has no version that no package asks for', () => {
  const [, catalog = ''] =
    /^catalog:\n((?: {2}.*\n)+)/m.exec(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')) ??
    [];
  const named = catalog
    .trim()
    .split('\n')
    .filter((line) => !line.trim().startsWith('#'))
    .map((line) => /^ *'?([^':]+)/.exec(line)?.[1] ?? '');
  expect(named.toSorted()).toEqual([...used].toSorted());
});

test('the README names every Debian package that the tests install', () => {
  const source = readFileSync(join(ROOT, 'scripts', 'system-packages.mjs'), 'utf8');
  const installed = [...source.matchAll(/debianPackage: '([^']+)'/g)].map(([, name]) => name);
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  expect(installed.length).toBeGreaterThan(0);
  expect(installed.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
