import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseDocument } from 'yaml';
import { allDocuments, everyMarkdown } from './all-documents.ts';
import { readDocument, type Block, type Document } from './document.ts';
import { readNamedThings } from './named-things.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const documents = allDocuments(ROOT);
const blocks = documents.flatMap((document) => document.blocks);
/** Every Markdown file of the repository. */
const everything = new Map(everyMarkdown(ROOT).map((path) => [path, readDocument(ROOT, path)]));
const PROGRAMS = ['js', 'mjs', 'ts', 'python', 'py'];
const SHELLS = ['sh', 'bash', 'shell', 'zsh', 'console'];
/** Variables of this project, by how they begin. */
const VARIABLE = /\b(?:AGENT|BROWSER|DATABASE|POINTS|REDIS|SERVICE)_[A-Z0-9_]*[A-Z0-9]\b/g;

/** Other names in this form: error codes, and the passwords of the stores in Compose. */
const OTHER_NAMES = ['apps/browser-tool/src/errors.ts', 'infra/compose.yaml'];

/** Pages whose commands run as they are printed. */
const isRunPage = ({ path }: Document): boolean =>
  path === 'README.md' || path === 'docs/quick-start.md' || path.startsWith('docs/guides/');

test('the documents are found', () => {
  expect(documents.length).toBeGreaterThan(25);
  expect(blocks.length).toBeGreaterThan(60);
});

test('every command of README, quick start and guides is run by a test, or says why not', () => {
  const wrong = documents
    .filter(isRunPage)
    .flatMap((document) =>
      document.blocks.filter((block) => !isRunOrExcused(block, document)).map(({ place }) => place),
    );
  expect(wrong).toEqual([]);
});

function isRunOrExcused(block: Block, document: Document): boolean {
  const { language, notRun, writes, isOutput } = block;
  if (notRun !== undefined || isOutput) return true;
  if (SHELLS.includes(language)) return language === 'sh';
  if (!PROGRAMS.includes(language)) return true;
  // A program is run by a command further down.
  const after = document.blocks.slice(document.blocks.indexOf(block));
  return (
    writes !== undefined &&
    after.some(({ language: of, text }) => of === 'sh' && text.includes(writes))
  );
}

test('scripts, packages, paths and options that commands name exist, also where no test runs them', () => {
  const things = readNamedThings(ROOT);
  const missing = [...everything.values()]
    .flatMap((document) => document.blocks)
    .filter(({ language, isOutput }) => language === 'sh' && !isOutput)
    .flatMap(({ place, text }) => things.missingIn(text).map((what) => `${place}: ${what}`));
  expect(missing).toEqual([]);
});

test('every environment variable that is named exists in the configuration of a process', () => {
  const reference = readFileSync(join(ROOT, 'docs', 'reference', 'configuration.md'), 'utf8');
  const known = new Set([...reference.matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(([, name]) => name));
  expect(known.size).toBeGreaterThan(50);
  const others = OTHER_NAMES.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
  const unknown = documents.flatMap(({ path, text }) =>
    [...text.matchAll(VARIABLE)]
      .filter(([name]) => !known.has(name) && !others.includes(name))
      .map(([name]) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('every JSON block is JSON', () => {
  const broken = blocks.filter(({ language, text }) => {
    if (language !== 'json') return false;
    try {
      JSON.parse(text);
      return false;
    } catch {
      return true;
    }
  });
  expect(broken.map(({ place }) => place)).toEqual([]);
});

test('every YAML block is YAML', () => {
  const yaml = blocks.filter(({ language }) => language === 'yaml');
  const broken = yaml.filter(({ text }) => parseDocument(text).errors.length > 0);
  expect(yaml.length).toBeGreaterThan(2);
  expect(broken.map(({ place }) => place)).toEqual([]);
});

test('every link within the repository points to an existing file and heading', () => {
  const broken = [...everything.values()].flatMap(({ path, links }) =>
    links
      .filter(({ target }) => !/^[a-z]+:/.test(target) && !exists(path, target))
      .map(({ place, target }) => `${place}: ${target}`),
  );
  expect(everything.size).toBeGreaterThan(50);
  expect(broken).toEqual([]);
});

function exists(from: string, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file)).replace(/\/$/, '');
  if (!existsSync(join(ROOT, path))) return false;
  if (anchor === undefined) return true;
  return (
    !statSync(join(ROOT, path)).isDirectory() &&
    (everything.get(path)?.anchors.has(anchor) ?? false)
  );
}

test('the index links to every document, or to the index of its folder, which does', () => {
  const index = linksOf('docs/README.md');
  const linked = new Set([
    ...index,
    ...index.filter((path) => /^docs\/.+\/README\.md$/.test(path)).flatMap(linksOf),
  ]);
  const guides = documents
    .map(({ path }) => path)
    .filter((path) => path.startsWith('docs/') && !path.startsWith('docs/decisions/'));
  expect(guides.filter((path) => path !== 'docs/README.md' && !linked.has(path))).toEqual([]);
});

/** The files that a document links to, as paths of the repository. */
const linksOf = (path: string): readonly string[] =>
  readDocument(ROOT, path).links.map(({ target }) =>
    normalize(join(dirname(path), target.split('#')[0] ?? '')),
  );

test('the threat model names a test for everything that it says cannot happen', () => {
  const { text } = readDocument(ROOT, 'docs/security.md');
  const tables = text.split('\n\n').filter((part) => /^\|.*\| Shown by +\|\n/.test(part));
  const rows = tables.flatMap((table) => table.trim().split('\n').slice(2));
  expect(rows.length).toBeGreaterThan(25);
  // That the files exist is checked for all links.
  expect(rows.filter((row) => !/\.test\.ts\) +\|$|\.test\.ts\)[^|]*\|$/.test(row))).toEqual([]);
});
