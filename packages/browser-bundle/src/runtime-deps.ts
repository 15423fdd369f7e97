import { createLibrarySearch, type Dependent } from './library-search.ts';
import type { LinkedBinary } from './linked-binary.ts';
import { readLinkedBinary, tryReadLinkedBinary } from './read-linked-binary.ts';
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
  /** If a launcher script was to be scanned, the program that it starts. */
  readonly path: string;
  /** Undefined if the file has no known binary format. */
  readonly binary: LinkedBinary | undefined;
  readonly dependencies: readonly RuntimeDep[];
}

interface ScanOptions {
  /** Libraries that are shipped with the program; their own dependencies are listed too. */
  readonly shipped?: readonly string[];
}

/** Lists the shared libraries that a program needs, directly and through its libraries. */
export async function collectRuntimeDeps(
  path: string,
  options?: ScanOptions,
): Promise<readonly RuntimeDep[]> {
  return (await scanRuntime(path, options)).dependencies;
}

/** Scans a program. It is read, never run. */
export async function scanRuntime(
  path: string,
  { shipped = [] }: ScanOptions = {},
): Promise<RuntimeScan> {
  const executable = await followShellWrapper(path);
  const binary = readLinkedBinary(executable);
  const search = createLibrarySearch({ executable, shipped });
  const found = new Map<string, RuntimeDep>();
  const queue: Dependent[] = [];
  // A library that cannot be read still counts as found.
  const enqueue = (
    file: string,
    content = tryReadLinkedBinary(file),
    inherited: readonly string[] = [],
  ): void => {
    if (content !== undefined) queue.push(search.toDependent(file, content, inherited));
  };
  if (binary !== undefined) enqueue(executable, binary);
  for (const library of shipped) enqueue(library);
  for (let dependent = queue.shift(); dependent !== undefined; dependent = queue.shift()) {
    for (const name of dependent.binary.needed) {
      if (found.has(name) || API_SET.test(name) || found.size >= DEPENDENCIES_MAX) continue;
      const resolved = await search.find(name, dependent);
      found.set(name, { name, resolved });
      if (resolved !== null) enqueue(resolved, undefined, inheritedFrom(dependent));
    }
  }
  return { path: executable, binary, dependencies: [...found.values()] };
}

/** The folders that the libraries of a file are searched in as well. */
function inheritedFrom({ binary, folders }: Dependent): readonly string[] {
  return binary.areRunPathsInherited ? folders : folders.slice(binary.runPaths.length);
}
