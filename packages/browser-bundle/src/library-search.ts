import { readFile, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isFile } from '@model-gateway/kernel';
import type { LinkedBinary } from './linked-binary.ts';
import { tryReadLinkedBinary } from './read-linked-binary.ts';

const LOADER_CONFIG = '/etc/ld.so.conf';
const LOADER_CONFIG_DEPTH_MAX = 4;
const SYSTEM_FOLDERS = ['/lib64', '/usr/lib64', '/lib', '/usr/lib', '/usr/local/lib'];
const TRIPLETS: Readonly<Record<string, string>> = {
  x86_64: 'x86_64-linux-gnu',
  aarch64: 'aarch64-linux-gnu',
  arm: 'arm-linux-gnueabihf',
  x86: 'i386-linux-gnu',
};

/** A file whose libraries are looked up. */
export interface Dependent {
  readonly path: string;
  readonly binary: LinkedBinary;
  /** The folders that the file itself names, then those that it inherits from the files that depend on it. */
  readonly folders: readonly string[];
}

interface SearchOptions {
  readonly executable: string;
  /** Libraries that are shipped beside the program; matched by file name, before those of the system. */
  readonly shipped: readonly string[];
}

/** Finds libraries as the loader of each system would, using only the file system. */
export function createLibrarySearch({ executable, shipped }: SearchOptions) {
  let configured: Promise<readonly string[]> | undefined;
  const expand = (text: string, path: string): string =>
    resolve(
      dirname(path),
      text
        .replaceAll(/\$ORIGIN|\$\{ORIGIN\}|@loader_path/g, dirname(path))
        .replaceAll('@executable_path', dirname(executable)),
    );
  const shippedAs = (name: string): readonly string[] =>
    shipped.filter((path) => basename(path) === name);

  async function findElf(name: string, { binary, folders }: Dependent): Promise<string | null> {
    configured ??= readLoaderConfig(LOADER_CONFIG);
    const triplet = TRIPLETS[binary.architecture];
    const searched = [
      ...folders,
      ...(await configured),
      ...(triplet === undefined ? [] : [`/lib/${triplet}`, `/usr/lib/${triplet}`]),
      ...SYSTEM_FOLDERS,
    ];
    const paths = name.includes('/')
      ? [name]
      : [...shippedAs(name), ...searched.map((folder) => join(folder, name))];
    for (const path of paths) {
      if (!(await isFile(path))) continue;
      const found = tryReadLinkedBinary(path);
      // The loader skips libraries of another architecture.
      if (found?.format === 'elf' && found.architecture === binary.architecture) return path;
    }
    return null;
  }

  async function findMachO(name: string, { path, folders }: Dependent): Promise<string | null> {
    const paths = name.startsWith('@rpath/')
      ? folders.map((folder) => join(folder, name.slice('@rpath/'.length)))
      : [expand(name, path)];
    for (const each of [...paths, ...shippedAs(basename(name))]) {
      if (await isFile(each)) return each;
    }
    // macOS keeps its own libraries in one cache; they are not files.
    return /^\/(usr\/lib|System)\//.test(name) ? name : null;
  }

  async function findDll(name: string): Promise<string | null> {
    const folder = dirname(executable);
    const beside = (await readdir(folder).catch(() => [])).map((entry) => join(folder, entry));
    const isSame = (path: string): boolean => basename(path).toLowerCase() === name.toLowerCase();
    return [...beside, ...shipped].find(isSame) ?? null;
  }

  const finders = { elf: findElf, 'mach-o': findMachO, pe: findDll };
  return {
    find: (name: string, dependent: Dependent): Promise<string | null> =>
      finders[dependent.binary.format](name, dependent),
    toDependent: (path: string, binary: LinkedBinary, inherited: readonly string[]): Dependent => ({
      path,
      binary,
      folders: [...binary.runPaths.map((folder) => expand(folder, path)), ...inherited],
    }),
  };
}

async function readLoaderConfig(path: string, depth = 0): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.replace(/#.*$/, '').trim());
  const folders = await Promise.all(
    lines.map(async (line) => {
      const pattern = /^include\s+(.+)$/.exec(line)?.[1];
      if (pattern === undefined) return line.startsWith('/') ? [line] : [];
      if (depth >= LOADER_CONFIG_DEPTH_MAX) return [];
      const files = await expandPattern(resolve(dirname(path), pattern));
      return (await Promise.all(files.map((file) => readLoaderConfig(file, depth + 1)))).flat();
    }),
  );
  return folders.flat();
}

/** `include` allows a pattern only in the last part of the path. */
async function expandPattern(pattern: string): Promise<readonly string[]> {
  const [before = '', after] = basename(pattern).split('*');
  if (after === undefined) return [pattern];
  const entries = await readdir(dirname(pattern)).catch(() => []);
  return entries
    .filter((entry) => entry.startsWith(before) && entry.endsWith(after))
    .toSorted()
    .map((entry) => join(dirname(pattern), entry));
}
