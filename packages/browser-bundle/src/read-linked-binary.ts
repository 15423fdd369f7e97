import { withBinaryFile } from './binary-reader.ts';
import { readElf } from './elf.ts';
import type { LinkedBinary } from './linked-binary.ts';
import { readMachO } from './mach-o.ts';
import { readPortableExecutable } from './portable-executable.ts';

/** Reads a binary of any of the three formats without running it; undefined for any other file. */
export function readLinkedBinary(path: string): Promise<LinkedBinary | undefined> {
  return withBinaryFile(
    path,
    async (reader) =>
      (await readElf(reader)) ??
      (await readMachO(reader)) ??
      (await readPortableExecutable(reader)),
  );
}
