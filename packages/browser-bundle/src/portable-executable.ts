import { BinaryFormatError, offsetOf, type BinaryFile, type MappedBytes } from './binary-file.ts';
import type { FormatReader } from './linked-binary.ts';

const PE_START_AT = 60;
const COFF_HEADER_BYTES = 24;
const SECTION_BYTES = 40;
const SECTIONS_MAX = 96;
const LIBRARIES_MAX = 4096;
const MAGIC_64 = 0x20b;
const IMPORTS = { directory: 1, entryBytes: 20, nameAt: 12 } as const;
const DELAYED_IMPORTS = { directory: 13, entryBytes: 32, nameAt: 4 } as const;
const MACHINES: Readonly<Record<number, string>> = {
  0x14c: 'x86',
  0x8664: 'x86_64',
  0xaa64: 'aarch64',
};

/** Reads the import tables of a Windows executable or DLL. */
export const readPortableExecutable: FormatReader = (file) => {
  if (!file.has('MZ', 0) || file.size < PE_START_AT + 4) return undefined;
  const start = file.uint(PE_START_AT, 4);
  if (!file.has('PE\0\0', start)) return undefined;
  const machine = file.uint(start + 4, 2);
  const optional = { start: start + COFF_HEADER_BYTES, bytes: file.uint(start + 20, 2) };
  const sections = readSections(file, optional.start + optional.bytes, file.uint(start + 6, 2));
  const directories = file.uint(optional.start, 2) === MAGIC_64 ? 112 : 96;
  const needed = [IMPORTS, DELAYED_IMPORTS].flatMap((table) => {
    const at = directories + table.directory * 8;
    const address = at + 8 > optional.bytes ? 0 : file.uint(optional.start + at, 4);
    return address === 0 ? [] : readImports(file, sections, address, table);
  });
  return {
    format: 'pe',
    architecture: MACHINES[machine] ?? `machine ${machine}`,
    needed: [...new Set(needed)],
    runPaths: [],
    areRunPathsInherited: false,
  };
};

function readSections(file: BinaryFile, start: number, count: number): readonly MappedBytes[] {
  if (count > SECTIONS_MAX) throw new BinaryFormatError('a PE file has at most 96 sections');
  return Array.from({ length: count }, (_, index): MappedBytes => {
    const at = start + index * SECTION_BYTES;
    return {
      address: file.uint(at + 12, 4),
      size: Math.max(file.uint(at + 8, 4), file.uint(at + 16, 4)),
      offset: file.uint(at + 20, 4),
    };
  });
}

function readImports(
  file: BinaryFile,
  sections: readonly MappedBytes[],
  address: number,
  { entryBytes, nameAt }: typeof IMPORTS | typeof DELAYED_IMPORTS,
): readonly string[] {
  const start = offsetOf(sections, address);
  const names: string[] = [];
  for (let index = 0; index < LIBRARIES_MAX; index += 1) {
    const name = file.uint(start + index * entryBytes + nameAt, 4);
    if (name === 0) break;
    names.push(file.text(offsetOf(sections, name)));
  }
  return names;
}
