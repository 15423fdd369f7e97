import { BinaryFormatError, type BinaryReader } from './binary-reader.ts';
import type { LinkedBinary } from './linked-binary.ts';

const MAGIC = 0x7f454c46;
const IDENT_BYTES = 16;
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

interface Layout {
  readonly wide: boolean;
  readonly little: boolean;
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** Reads the dynamic section of an ELF file: what `ldd` would print, without running the file as `ldd` may. */
export async function readElf(reader: BinaryReader): Promise<LinkedBinary | undefined> {
  if (reader.size < IDENT_BYTES) return undefined;
  const ident = await reader.bytes(0, IDENT_BYTES);
  if (ident.readUInt32BE(0) !== MAGIC) return undefined;
  const layout: Layout = { wide: ident[4] === 2, little: ident[5] !== 2 };
  const header = viewOf(await reader.bytes(0, layout.wide ? 64 : 52));
  const machine = header.getUint16(18, layout.little);
  const segments = await readSegments(reader, header, layout);
  const dynamic = segments.find(({ type }) => type === PROGRAM_DYNAMIC);
  const tags = dynamic === undefined ? [] : await readDynamic(reader, dynamic, layout);
  const textsOf = await createStringLookup(reader, segments, tags);
  const runPath = await textsOf(TAG_RUNPATH);
  // A RUNPATH makes the loader ignore the RPATH.
  const rpath = runPath.length > 0 ? [] : await textsOf(TAG_RPATH);
  return {
    format: 'elf',
    architecture: MACHINES[machine] ?? `machine ${machine}`,
    needed: await textsOf(TAG_NEEDED),
    runPaths: [...runPath, ...rpath].flatMap((text) => text.split(':')).filter(Boolean),
    areRunPathsInherited: rpath.length > 0,
  };
}

async function readSegments(
  reader: BinaryReader,
  header: DataView,
  { wide, little }: Layout,
): Promise<readonly Segment[]> {
  const start = wide ? Number(header.getBigUint64(32, little)) : header.getUint32(28, little);
  const entryBytes = header.getUint16(wide ? 54 : 42, little);
  const count = header.getUint16(wide ? 56 : 44, little);
  if (count > PROGRAM_HEADERS_MAX || (count > 0 && entryBytes < (wide ? 56 : 32))) {
    throw new BinaryFormatError('the program headers of the ELF file are invalid');
  }
  const table = viewOf(await reader.bytes(start, entryBytes * count));
  return Array.from({ length: count }, (_, index): Segment => {
    const at = index * entryBytes;
    const word = (offset: number): number =>
      wide ? Number(table.getBigUint64(at + offset, little)) : table.getUint32(at + offset, little);
    return {
      type: table.getUint32(at, little),
      offset: word(wide ? 8 : 4),
      address: word(wide ? 16 : 8),
      size: word(wide ? 32 : 16),
    };
  });
}

interface Tag {
  readonly tag: number;
  readonly value: number;
}

async function readDynamic(
  reader: BinaryReader,
  segment: Segment,
  { wide, little }: Layout,
): Promise<readonly Tag[]> {
  if (segment.size > DYNAMIC_BYTES_MAX) {
    throw new BinaryFormatError('the dynamic section of the ELF file is too large');
  }
  const table = viewOf(await reader.bytes(segment.offset, segment.size));
  const entryBytes = wide ? 16 : 8;
  const tags: Tag[] = [];
  for (let at = 0; at + entryBytes <= table.byteLength; at += entryBytes) {
    const word = (offset: number): number =>
      wide ? Number(table.getBigUint64(offset, little)) : table.getUint32(offset, little);
    const tag = word(at);
    if (tag === TAG_NULL) break;
    tags.push({ tag, value: word(at + entryBytes / 2) });
  }
  return tags;
}

/** Looks up strings as the loader does: the file gives the string table by its address in memory. */
async function createStringLookup(
  reader: BinaryReader,
  segments: readonly Segment[],
  tags: readonly Tag[],
): Promise<(tag: number) => Promise<readonly string[]>> {
  const address = tags.find(({ tag }) => tag === TAG_STRING_TABLE)?.value;
  const segment = segments.find(
    (each) =>
      each.type === PROGRAM_LOAD &&
      address !== undefined &&
      address >= each.address &&
      address < each.address + each.size,
  );
  if (address === undefined || segment === undefined) return async () => [];
  const start = segment.offset + (address - segment.address);
  return async (requested) => {
    const found = tags.filter(({ tag }) => tag === requested);
    return Promise.all(found.map(({ value }) => reader.text(start + value)));
  };
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
