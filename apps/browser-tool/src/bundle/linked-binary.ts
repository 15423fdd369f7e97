/** What an executable or a shared library says about the libraries that it is linked to. */
export interface LinkedBinary {
  readonly format: 'elf' | 'mach-o' | 'pe';
  readonly architecture: string;
  /** The libraries by the names under which they are recorded, in their order. */
  readonly needed: readonly string[];
  /** Folders to search that the file itself names, with their `$ORIGIN` or `@loader_path` as it is. */
  readonly runPaths: readonly string[];
  /** Whether those folders are also searched for what its libraries need. */
  readonly areRunPathsInherited: boolean;
}
