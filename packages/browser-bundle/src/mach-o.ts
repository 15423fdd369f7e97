import { BinaryFormatError, type BinaryFile } from './binary-file.ts';
import type { FormatReader, LinkedBinary } from './linked-binary.ts';

const HEADER_BYTES_32 = 28;
const HEADER_BYTES_64 = 32;
const MAGIC_32 = 0xfeedface;
const MAGIC_64 = 0xfeedfacf;
const MAGIC_FAT_32 = 0xcafebabe;
const MAGIC_FAT_64 = 0xcafebabf;
// The same first bytes begin a Java class, where the next number is a version of at least 45.
const FAT_SLICES_MAX = 20;
const COMMANDS_MAX = 10_000;
const COMMAND_BYTES_MIN = 8;
const LOAD_COMMANDS = new Set([0xc, 0x20, 0x80000018, 0x8000001f, 0x80000023]);
const RUN_PATH_COMMAND = 0x8000001c;
const CPUS: Readonly<Record<number, string>> = {
  7: 'x86',
  12: 'arm',
  0x01000007: 'x86_64',
  0x0100000c: 'aarch64',
};

/** Reads the load commands of a Mach-O file: what `otool -L` would print. Of a fat file, the slice for this machine or the first. */
export const readMachO: FormatReader = (file) => {
  if (file.size < HEADER_BYTES_32) return undefined;
  const fat = file.bigEndian();
  const magic = fat.uint(0, 4);
  if (magic !== MAGIC_FAT_32 && magic !== MAGIC_FAT_64) return readThin(file);
  const count = fat.uint(4, 4);
  if (count === 0 || count > FAT_SLICES_MAX) return undefined;
  const [wordBytes, entryBytes] = magic === MAGIC_FAT_64 ? [8, 32] : [4, 20];
  const entries = Array.from({ length: count }, (_, index) => 8 + index * entryBytes);
  const own = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const chosen = entries.find((at) => CPUS[fat.uint(at, 4)] === own) ?? 8;
  const start = fat.uint(chosen + 8, wordBytes);
  return readThin(file.slice(start, fat.uint(chosen + 8 + wordBytes, wordBytes)));
};

function readThin(file: BinaryFile): LinkedBinary | undefined {
  const magic = file.size < HEADER_BYTES_32 ? 0 : file.uint(0, 4);
  if (magic !== MAGIC_32 && magic !== MAGIC_64) return undefined;
  const cpu = file.uint(4, 4);
  const count = file.uint(16, 4);
  if (count > COMMANDS_MAX) throw new BinaryFormatError('the Mach-O file has too many commands');
  const needed: string[] = [];
  const runPaths: string[] = [];
  let at = magic === MAGIC_64 ? HEADER_BYTES_64 : HEADER_BYTES_32;
  for (let left = count; left > 0; left -= 1) {
    const kind = file.uint(at, 4);
    const bytes = file.uint(at + 4, 4);
    if (bytes < COMMAND_BYTES_MIN) {
      throw new BinaryFormatError('a Mach-O load command is too short');
    }
    // Both kinds of command begin with the offset of their text, relative to the command.
    const text = (): string => file.text(at + file.uint(at + 8, 4));
    if (LOAD_COMMANDS.has(kind)) needed.push(text());
    if (kind === RUN_PATH_COMMAND) runPaths.push(text());
    at += bytes;
  }
  return {
    format: 'mach-o',
    architecture: CPUS[cpu] ?? `cpu ${cpu}`,
    needed,
    runPaths,
    areRunPathsInherited: true,
  };
}
