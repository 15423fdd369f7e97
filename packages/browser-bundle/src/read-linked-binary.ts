import { withBinaryFile } from './binary-file.ts';
import { readElf } from './elf.ts';
import type { LinkedBinary } from './linked-binary.ts';
import { readMachO } from './mach-o.ts';
import { readPortableExecutable } from './portable-executable.ts';

/** Reads a binary of any of the three formats without running it; undefined for any other file. */
export function readLinkedBinary(path: string): LinkedBinary | undefined {
  return withBinaryFile(
    path,
    (file) => readElf(file) ?? readMachO(file) ?? readPortableExecutable(file),
  );
}

/** The same; undefined also for a file that cannot be read or is damaged. */
export function tryReadLinkedBinary(path: string): LinkedBinary | undefined {
  try {
    return readLinkedBinary(path);
  } catch {
    return undefined;
  }
}
