import { readFile, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isFile } from '@model-gateway/kernel';
import type { LinkedBinary } from './linked-binary.ts';
import { readLinkedBinary } from './read-linked-binary.ts';

const LOADER_CONFIG = '/etc/ld.so.conf';
const LOADER_CONFIG_DEPTH_MAX = 4;
const SYSTEM_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib', '/usr/local/lib'];
const TRIPLETS: Readonly<Record<string, string>> = {
  x86_64: 'x86_64-linux-gnu',
  aarch64: 'aarch64-linux-gnu',
  arm: 'arm-linux-gnueabihf',
  x86: 'i386-linux-gnu',
};

/** A file whose libraries are being looked up, and the folders that it inherits from the files that depend on it. */
export interface Dependent {
  readonly path: string;
  readonly binary: LinkedBinary;
  readonly inheritedFolders: readonly string[];
}

/** Finds libraries as the loader of each system would, using only the file system. */
export interface LibrarySearch {
  find(name: string, dependent: Dependent): Promise<string | null>;
  /** The folders that the file itself names, as absolute paths. */
  ownFolders(dependent: Dependent): readonly string[];
}

interface SearchOptions {
  readonly executable: string;
  /** Libraries that are shipped beside the program; matched by file name, before those of the system. */
  readonly shipped: readonly string[];
}

/** A search that reads the loader's configuration once. */
export function createLibrarySearch({ executable, shipped }: SearchOptions): LibrarySearch {
  let configured: Promise<readonly string[]> | undefined;
  const ownFolders = (dependent: Dependent): readonly string[] =>
    dependent.binary.runPaths.map((folder) => expandTokens(folder, dependent.path, executable));

  const shippedAs = (name: string): readonly string[] =>
    shipped.filter((path) => basename(path) === name);

  async function findElf(name: string, dependent: Dependent): Promise<string | null> {
    configured ??= readLoaderConfig(LOADER_CONFIG);
    const triplet = TRIPLETS[dependent.binary.architecture];
    const folders = [
      ...ownFolders(dependent),
      ...dependent.inheritedFolders,
      ...(await configured),
      ...(triplet === undefined ? [] : [`/lib/${triplet}`, `/usr/lib/${triplet}`]),
      ...SYSTEM_FOLDERS,
    ];
    const paths = name.includes('/')
      ? [name]
      : [...shippedAs(name), ...folders.map((folder) => join(folder, name))];
    for (const path of paths) {
      // The loader skips libraries of another architecture.
      if (await isBinaryOf(path, dependent.binary)) return path;
    }
    return null;
  }

  async function findMachO(name: string, dependent: Dependent): Promise<string | null> {
    const paths = name.startsWith('@rpath/')
      ? [...ownFolders(dependent), ...dependent.inheritedFolders].map((folder) =>
          join(folder, name.slice('@rpath/'.length)),
        )
      : [expandTokens(name, dependent.path, executable)];
    for (const path of [...paths, ...shippedAs(basename(name))]) {
      if (await isFile(path)) return path;
    }
    // macOS keeps its own libraries in one cache; they are not files.
    return /^\/(usr\/lib|System)\//.test(name) ? name : null;
  }

  async function findDll(name: string): Promise<string | null> {
    const folder = dirname(executable);
    const beside = (await readdir(folder).catch(() => [])).map((entry) => join(folder, entry));
    const lowerCase = name.toLowerCase();
    const isSame = (path: string): boolean => basename(path).toLowerCase() === lowerCase;
    return [...beside, ...shipped].find(isSame) ?? null;
  }

  const finders = { elf: findElf, 'mach-o': findMachO, pe: findDll };
  return {
    find: (name, dependent) => finders[dependent.binary.format](name, dependent),
    ownFolders,
  };
}

function expandTokens(text: string, path: string, executable: string): string {
  const expanded = text
    .replaceAll(/\$ORIGIN|\$\{ORIGIN\}|@loader_path/g, dirname(path))
    .replaceAll('@executable_path', dirname(executable));
  return resolve(dirname(path), expanded);
}

async function isBinaryOf(path: string, like: LinkedBinary): Promise<boolean> {
  if (!(await isFile(path))) return false;
  const binary = await readLinkedBinary(path).catch(() => undefined);
  return binary?.format === like.format && binary.architecture === like.architecture;
}

async function readLoaderConfig(path: string, depth = 0): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const folders: string[] = [];
  for (const line of text.split('\n').map((entry) => entry.replace(/#.*$/, '').trim())) {
    const [, pattern] = /^include\s+(.+)$/.exec(line) ?? [];
    if (pattern === undefined) {
      if (line.startsWith('/')) folders.push(line);
    } else if (depth < LOADER_CONFIG_DEPTH_MAX) {
      for (const file of await expandPattern(pattern, dirname(path))) {
        folders.push(...(await readLoaderConfig(file, depth + 1)));
      }
    }
  }
  return folders;
}

/** `include` allows a pattern only in the last part of the path. */
async function expandPattern(pattern: string, folderOfFile: string): Promise<readonly string[]> {
  const whole = isAbsolute(pattern) ? pattern : join(folderOfFile, pattern);
  const folder = await realpath(dirname(whole)).catch(() => dirname(whole));
  const [before = '', after = ''] = basename(whole).split('*');
  const entries = await readdir(folder).catch(() => []);
  return entries
    .filter((entry) => entry.startsWith(before) && entry.endsWith(after))
    .toSorted()
    .map((entry) => join(folder, entry));
}
