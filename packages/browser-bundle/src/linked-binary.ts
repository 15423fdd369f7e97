import type { BinaryFile } from './binary-file.ts';

/** What an executable or a shared library says about the libraries that it is linked to. */
export interface LinkedBinary {
  readonly format: 'elf' | 'mach-o' | 'pe';
  readonly architecture: string;
  /** The names of the libraries as recorded in the file, in their order. */
  readonly needed: readonly string[];
  /** Folders to search that the file itself names; `$ORIGIN` and `@loader_path` are not expanded. */
  readonly runPaths: readonly string[];
  /** Whether those folders are also searched for the dependencies of its libraries. */
  readonly areRunPathsInherited: boolean;
}

/** Reads a binary of one format; undefined for any other file. */
export type FormatReader = (file: BinaryFile) => LinkedBinary | undefined;
