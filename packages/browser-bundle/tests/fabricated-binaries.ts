/** Just enough of a 64-bit Mach-O executable: a header and its load commands. */
export function makeMachO(libraries: readonly string[], runPaths: readonly string[] = []): Buffer {
  const commands = [
    // A command of another kind comes first, as in real files.
    command(0x1b, Buffer.alloc(16), ''),
    ...libraries.map((name) => command(0xc, dylibFacts, name)),
    ...runPaths.map((path) => command(0x8000001c, runPathFacts, path)),
  ];
  const body = Buffer.concat(commands);
  const header = Buffer.alloc(32);
  header.writeUInt32LE(0xfeedfacf, 0);
  header.writeUInt32LE(0x0100000c, 4);
  header.writeUInt32LE(2, 12);
  header.writeUInt32LE(commands.length, 16);
  header.writeUInt32LE(body.length, 20);
  return Buffer.concat([header, body]);
}

const dylibFacts = words(24, 0, 0, 0);
const runPathFacts = words(12);

function command(kind: number, facts: Buffer, text: string): Buffer {
  const content = Buffer.concat([facts, Buffer.from(`${text}\0`)]);
  const padded = Buffer.alloc(Math.ceil((8 + content.length) / 8) * 8);
  padded.writeUInt32LE(kind, 0);
  padded.writeUInt32LE(padded.length, 4);
  content.copy(padded, 8);
  return padded;
}

/** A file that holds one binary for each architecture. */
export function makeFatMachO(slices: ReadonlyArray<{ cpu: number; binary: Buffer }>): Buffer {
  const headerBytes = 8 + slices.length * 20;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(0xcafebabe, 0);
  header.writeUInt32BE(slices.length, 4);
  let offset = headerBytes;
  for (const [index, { cpu, binary }] of slices.entries()) {
    const at = 8 + index * 20;
    header.writeUInt32BE(cpu, at);
    header.writeUInt32BE(offset, at + 8);
    header.writeUInt32BE(binary.length, at + 12);
    offset += binary.length;
  }
  return Buffer.concat([header, ...slices.map(({ binary }) => binary)]);
}

const SECTION_ADDRESS = 0x1000;
const SECTION_OFFSET = 0x400;

/** Just enough of a 64-bit Windows executable: headers and one section with both import tables. */
export function makePortableExecutable(
  imports: readonly string[],
  delayed: readonly string[] = [],
): Buffer {
  const importBytes = (imports.length + 1) * 20;
  const delayedBytes = (delayed.length + 1) * 32;
  const section = Buffer.alloc(4096);
  let nameAt = importBytes + delayedBytes;
  const place = (name: string): number => {
    const at = nameAt;
    section.write(`${name}\0`, at, 'latin1');
    nameAt += name.length + 1;
    return SECTION_ADDRESS + at;
  };
  for (const [index, name] of imports.entries())
    section.writeUInt32LE(place(name), index * 20 + 12);
  for (const [index, name] of delayed.entries()) {
    section.writeUInt32LE(place(name), importBytes + index * 32 + 4);
  }
  const file = Buffer.alloc(SECTION_OFFSET);
  file.write('MZ', 0, 'latin1');
  file.writeUInt32LE(0x80, 60);
  file.write('PE\0\0', 0x80, 'latin1');
  file.writeUInt16LE(0x8664, 0x84);
  file.writeUInt16LE(1, 0x86);
  file.writeUInt16LE(240, 0x94);
  const optional = 0x98;
  file.writeUInt16LE(0x20b, optional);
  file.writeUInt32LE(16, optional + 108);
  file.writeUInt32LE(SECTION_ADDRESS, optional + 112 + 8);
  file.writeUInt32LE(SECTION_ADDRESS + importBytes, optional + 112 + 13 * 8);
  const sectionHeader = optional + 240;
  file.write('.idata', sectionHeader, 'latin1');
  file.writeUInt32LE(section.length, sectionHeader + 8);
  file.writeUInt32LE(SECTION_ADDRESS, sectionHeader + 12);
  file.writeUInt32LE(section.length, sectionHeader + 16);
  file.writeUInt32LE(SECTION_OFFSET, sectionHeader + 20);
  return Buffer.concat([file, section]);
}

interface ElfFacts {
  readonly needed: readonly string[];
  readonly runPath?: string;
  readonly rpath?: string;
  readonly machine?: number;
}

/** Just enough of a 64-bit ELF file: headers, one loaded segment, the dynamic section and its texts. */
export function makeElf({ needed, runPath, rpath, machine = 62 }: ElfFacts): Buffer {
  const base = 0x400000;
  const dynamicAt = 64 + 2 * 56;
  const entries: Array<readonly [tag: number, text: string]> = [
    ...needed.map((name) => [1, name] as const),
    ...(runPath === undefined ? [] : [[29, runPath] as const]),
    ...(rpath === undefined ? [] : [[15, rpath] as const]),
  ];
  const dynamicBytes = (entries.length + 2) * 16;
  const textsAt = dynamicAt + dynamicBytes;
  const dynamic = Buffer.alloc(dynamicBytes);
  let texts = '\0';
  for (const [index, [tag, text]] of entries.entries()) {
    dynamic.writeBigUInt64LE(BigInt(tag), index * 16);
    dynamic.writeBigUInt64LE(BigInt(texts.length), index * 16 + 8);
    texts += `${text}\0`;
  }
  dynamic.writeBigUInt64LE(5n, entries.length * 16);
  dynamic.writeBigUInt64LE(BigInt(base + textsAt), entries.length * 16 + 8);
  const size = textsAt + texts.length;
  const header = Buffer.alloc(64);
  header.write('\u007FELF', 0, 'latin1');
  header.set([2, 1, 1], 4);
  header.writeUInt16LE(3, 16);
  header.writeUInt16LE(machine, 18);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(2, 56);
  const segments = [
    segment(1, 0, base, size),
    segment(2, dynamicAt, base + dynamicAt, dynamicBytes),
  ];
  return Buffer.concat([header, ...segments, dynamic, Buffer.from(texts, 'latin1')]);
}

function segment(type: number, offset: number, address: number, size: number): Buffer {
  const entry = Buffer.alloc(56);
  entry.writeUInt32LE(type, 0);
  entry.writeBigUInt64LE(BigInt(offset), 8);
  entry.writeBigUInt64LE(BigInt(address), 16);
  entry.writeBigUInt64LE(BigInt(size), 32);
  return entry;
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4);
  return bytes;
}
