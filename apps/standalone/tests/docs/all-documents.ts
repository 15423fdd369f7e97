import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, type Document } from './document.ts';

// Generated from the code, without commands; other tests compare it with the code.
const GENERATED = [
  'docs/rpc.md',
  'docs/reference/configuration.md',
  'docs/reference/command-line.md',
  'docs/reference/errors.md',
];
const FOLDERS = ['apps', 'docs', 'infra', 'packages', 'prisma', 'scripts', 'tools'];
const SKIPPED = /^(node_modules|dist|generated|\..*)$/;
const ROOT_DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'tools/bench/README.md'];

/** Every document whose commands a reader is meant to paste. */
export function allDocuments(root: string): readonly Document[] {
  return [...ROOT_DOCUMENTS, ...markdownBelow(root, 'docs')]
    .filter((path) => !GENERATED.includes(path))
    .map((path) => readDocument(root, path));
}

/** Every Markdown file of the repository, by path. */
export function everyMarkdown(root: string): readonly string[] {
  const atTop = readdirSync(root).filter((path) => path.endsWith('.md'));
  return [...atTop, ...FOLDERS.flatMap((folder) => markdownBelow(root, folder))];
}

function markdownBelow(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return SKIPPED.test(entry.name) ? [] : markdownBelow(root, path);
      return entry.name.endsWith('.md') ? [path] : [];
    })
    .toSorted();
}
