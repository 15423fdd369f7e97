import { BinaryFormatError, type BinaryReader } from './binary-reader.ts';
import type { LinkedBinary } from './linked-binary.ts';

const DOS_HEADER_BYTES = 64;
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

interface Section {
  readonly address: number;
  readonly size: number;
  readonly offset: number;
}

/** Reads the import tables of a Windows executable or DLL. */
export async function readPortableExecutable(
  reader: BinaryReader,
): Promise<LinkedBinary | undefined> {
  if (reader.size < DOS_HEADER_BYTES) return undefined;
  const dos = await reader.bytes(0, DOS_HEADER_BYTES);
  if (dos.toString('latin1', 0, 2) !== 'MZ') return undefined;
  const start = dos.readUInt32LE(60);
  if (start + COFF_HEADER_BYTES > reader.size) return undefined;
  const coff = await reader.bytes(start, COFF_HEADER_BYTES);
  if (coff.toString('latin1', 0, 4) !== 'PE\0\0') return undefined;
  const optionalBytes = coff.readUInt16LE(20);
  const optional = await reader.bytes(start + COFF_HEADER_BYTES, optionalBytes);
  const sections = await readSections(
    reader,
    start + COFF_HEADER_BYTES + optionalBytes,
    coff.readUInt16LE(6),
  );
  const machine = coff.readUInt16LE(4);
  const tables = [IMPORTS, DELAYED_IMPORTS];
  const needed = await Promise.all(
    tables.map((table) => readImports(reader, optional, sections, table)),
  );
  return {
    format: 'pe',
    architecture: MACHINES[machine] ?? `machine ${machine}`,
    needed: [...new Set(needed.flat())],
    runPaths: [],
    areRunPathsInherited: false,
  };
}

async function readSections(
  reader: BinaryReader,
  start: number,
  count: number,
): Promise<readonly Section[]> {
  if (count > SECTIONS_MAX) throw new BinaryFormatError('a PE file has at most 96 sections');
  const table = await reader.bytes(start, count * SECTION_BYTES);
  return Array.from({ length: count }, (_, index): Section => {
    const at = index * SECTION_BYTES;
    return {
      address: table.readUInt32LE(at + 12),
      size: Math.max(table.readUInt32LE(at + 8), table.readUInt32LE(at + 16)),
      offset: table.readUInt32LE(at + 20),
    };
  });
}

async function readImports(
  reader: BinaryReader,
  optional: Buffer,
  sections: readonly Section[],
  table: typeof IMPORTS | typeof DELAYED_IMPORTS,
): Promise<readonly string[]> {
  const directories = optional.length < 2 || optional.readUInt16LE(0) !== MAGIC_64 ? 96 : 112;
  const at = directories + table.directory * 8;
  const address = at + 8 > optional.length ? 0 : optional.readUInt32LE(at);
  if (address === 0) return [];
  const start = offsetOf(sections, address);
  const names: string[] = [];
  for (let index = 0; index < LIBRARIES_MAX; index += 1) {
    const entry = await reader.bytes(start + index * table.entryBytes, table.entryBytes);
    const name = entry.readUInt32LE(table.nameAt);
    if (name === 0) break;
    names.push(await reader.text(offsetOf(sections, name)));
  }
  return names;
}

function offsetOf(sections: readonly Section[], address: number): number {
  const found = sections.find(
    (section) => address >= section.address && address < section.address + section.size,
  );
  if (found === undefined) {
    throw new BinaryFormatError('an import of the PE file lies outside of its sections');
  }
  return found.offset + (address - found.address);
}
