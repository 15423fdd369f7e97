import { createLibrarySearch, type Dependent } from './library-search.ts';
import type { LinkedBinary } from './linked-binary.ts';
import { readLinkedBinary } from './read-linked-binary.ts';
import { followShellWrapper } from './shell-wrapper.ts';

const DEPENDENCIES_MAX = 5000;
// Names of Windows API sets, for which there is no file.
const API_SET = /^(api|ext)-ms-/i;

/** A shared library that a binary needs, and where the loader finds it; null if it is missing. */
export interface RuntimeDep {
  readonly name: string;
  readonly resolved: string | null;
}

/** The binary that was scanned, and everything that it needs. */
export interface RuntimeScan {
  readonly path: string;
  /** Undefined if the file has no known binary format. */
  readonly binary: LinkedBinary | undefined;
  readonly dependencies: readonly RuntimeDep[];
}

export interface ScanOptions {
  /** Libraries that are shipped with the program; their own dependencies are listed too. */
  readonly shipped?: readonly string[];
}

/** Lists the shared libraries that a program needs, directly and through its libraries. The program is read, never run. */
export async function collectRuntimeDeps(
  path: string,
  options: ScanOptions = {},
): Promise<readonly RuntimeDep[]> {
  return (await scanRuntime(path, options)).dependencies;
}

/** The same, with the binary that a launcher script starts. */
export async function scanRuntime(
  path: string,
  { shipped = [] }: ScanOptions = {},
): Promise<RuntimeScan> {
  const executable = await followShellWrapper(path);
  const binary = await readLinkedBinary(executable);
  const search = createLibrarySearch({ executable, shipped });
  const found = new Map<string, RuntimeDep>();
  const queue = [...toDependents(executable, binary), ...(await readShipped(shipped))];
  for (let dependent = queue.shift(); dependent !== undefined; dependent = queue.shift()) {
    const inheritedFolders = [
      ...(dependent.binary.areRunPathsInherited ? search.ownFolders(dependent) : []),
      ...dependent.inheritedFolders,
    ];
    for (const name of dependent.binary.needed) {
      if (found.has(name) || API_SET.test(name) || found.size >= DEPENDENCIES_MAX) continue;
      const resolved = await search.find(name, dependent);
      found.set(name, { name, resolved });
      if (resolved === null) continue;
      queue.push(...toDependents(resolved, await tryReadBinary(resolved), inheritedFolders));
    }
  }
  return { path: executable, binary, dependencies: [...found.values()] };
}

function toDependents(
  path: string,
  binary: LinkedBinary | undefined,
  inheritedFolders: readonly string[] = [],
): readonly Dependent[] {
  return binary === undefined ? [] : [{ path, binary, inheritedFolders }];
}

async function readShipped(paths: readonly string[]): Promise<readonly Dependent[]> {
  const read = await Promise.all(
    paths.map(async (path) => toDependents(path, await tryReadBinary(path))),
  );
  return read.flat();
}

/** A library that cannot be read still counts as found. */
function tryReadBinary(path: string): Promise<LinkedBinary | undefined> {
  return readLinkedBinary(path).catch(() => undefined);
}
