import { BinaryFormatError, offsetOf, type BinaryFile, type MappedBytes } from './binary-file.ts';
import type { FormatReader } from './linked-binary.ts';

const PROGRAM_HEADERS_MAX = 1024;
const DYNAMIC_BYTES_MAX = 1024 * 1024;
const PROGRAM_LOAD = 1;
const PROGRAM_DYNAMIC = 2;
const TAG_NULL = 0;
const TAG_NEEDED = 1;
const TAG_STRING_TABLE = 5;
const TAG_RPATH = 15;
const TAG_RUNPATH = 29;
const MACHINES: Readonly<Record<number, string>> = {
  3: 'x86',
  22: 's390x',
  21: 'ppc64',
  40: 'arm',
  62: 'x86_64',
  183: 'aarch64',
  243: 'riscv',
  258: 'loongarch',
};

/** Reads the dynamic section of an ELF file: what `ldd` would print, without running the file as `ldd` may. */
export const readElf: FormatReader = (start) => {
  if (!start.has('\u007FELF', 0)) return undefined;
  const wordBytes = start.uint(4, 1) === 2 ? 8 : 4;
  const file = start.uint(5, 1) === 2 ? start.bigEndian() : start;
  const machine = file.uint(18, 2);
  const segments = readSegments(file, wordBytes);
  const loaded = segments.filter(({ type }) => type === PROGRAM_LOAD);
  const dynamic = segments.find(({ type }) => type === PROGRAM_DYNAMIC);
  const tags = dynamic === undefined ? [] : readTags(file, dynamic, wordBytes);
  const tableAddress = tags.find(({ tag }) => tag === TAG_STRING_TABLE)?.value;
  // The file gives the string table by its address in memory.
  const table = tableAddress === undefined ? undefined : offsetOf(loaded, tableAddress);
  const textsOf = (requested: number): readonly string[] =>
    table === undefined
      ? []
      : tags.filter(({ tag }) => tag === requested).map(({ value }) => file.text(table + value));
  const runPath = textsOf(TAG_RUNPATH);
  // A RUNPATH makes the loader ignore the RPATH.
  const rpath = runPath.length > 0 ? [] : textsOf(TAG_RPATH);
  return {
    format: 'elf',
    architecture: MACHINES[machine] ?? `machine ${machine}`,
    needed: textsOf(TAG_NEEDED),
    runPaths: [...runPath, ...rpath].flatMap((text) => text.split(':')).filter(Boolean),
    areRunPathsInherited: rpath.length > 0,
  };
};

interface Segment extends MappedBytes {
  readonly type: number;
}

function readSegments(file: BinaryFile, wordBytes: 4 | 8): readonly Segment[] {
  const isWide = wordBytes === 8;
  const start = file.uint(isWide ? 32 : 28, wordBytes);
  const entryBytes = file.uint(isWide ? 54 : 42, 2);
  const count = file.uint(isWide ? 56 : 44, 2);
  if (count > PROGRAM_HEADERS_MAX) {
    throw new BinaryFormatError('the ELF file has too many program headers');
  }
  return Array.from({ length: count }, (_, index): Segment => {
    const at = start + index * entryBytes;
    return {
      type: file.uint(at, 4),
      offset: file.uint(at + wordBytes, wordBytes),
      address: file.uint(at + wordBytes * 2, wordBytes),
      size: file.uint(at + wordBytes * 4, wordBytes),
    };
  });
}

interface Tag {
  readonly tag: number;
  readonly value: number;
}

function readTags(file: BinaryFile, { offset, size }: Segment, wordBytes: 4 | 8): readonly Tag[] {
  if (size > DYNAMIC_BYTES_MAX) {
    throw new BinaryFormatError('the dynamic section of the ELF file is too large');
  }
  const tags: Tag[] = [];
  for (let at = offset; at + wordBytes * 2 <= offset + size; at += wordBytes * 2) {
    const tag = file.uint(at, wordBytes);
    if (tag === TAG_NULL) break;
    tags.push({ tag, value: file.uint(at + wordBytes, wordBytes) });
  }
  return tags;
}
