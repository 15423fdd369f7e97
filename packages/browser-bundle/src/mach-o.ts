import { BinaryFormatError, slice, type BinaryReader } from './binary-reader.ts';
import type { LinkedBinary } from './linked-binary.ts';

const MAGIC_32 = 0xfeedface;
const MAGIC_64 = 0xfeedfacf;
const MAGIC_FAT_32 = 0xcafebabe;
const MAGIC_FAT_64 = 0xcafebabf;
// The same first bytes begin a Java class, where the next number is a version of at least 45.
const FAT_SLICES_MAX = 20;
const COMMANDS_BYTES_MAX = 4 * 1024 * 1024;
const LOAD_COMMANDS = new Set([0xc, 0x20, 0x80000018, 0x8000001f, 0x80000023]);
const RUN_PATH_COMMAND = 0x8000001c;
const CPUS: Readonly<Record<number, string>> = {
  7: 'x86',
  12: 'arm',
  0x01000007: 'x86_64',
  0x0100000c: 'aarch64',
};

/** Reads the load commands of a Mach-O file: what `otool -L` would print. Of a fat file, the slice for this machine or the first. */
export async function readMachO(reader: BinaryReader): Promise<LinkedBinary | undefined> {
  if (reader.size < 8) return undefined;
  const start = await reader.bytes(0, 8);
  const magic = start.readUInt32BE(0);
  if (magic === MAGIC_FAT_32 || magic === MAGIC_FAT_64) {
    const count = start.readUInt32BE(4);
    if (count === 0 || count > FAT_SLICES_MAX) return undefined;
    return readThin(await chooseSlice(reader, count, magic === MAGIC_FAT_64));
  }
  return readThin(reader);
}

async function chooseSlice(
  reader: BinaryReader,
  count: number,
  wide: boolean,
): Promise<BinaryReader> {
  const entryBytes = wide ? 32 : 20;
  const table = await reader.bytes(8, count * entryBytes);
  const own = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const starts = Array.from({ length: count }, (_, index) => index * entryBytes);
  const chosen = starts.find((at) => CPUS[table.readUInt32BE(at)] === own) ?? 0;
  const word = (at: number): number =>
    wide ? Number(table.readBigUInt64BE(at)) : table.readUInt32BE(at);
  return slice(reader, word(chosen + 8), word(chosen + (wide ? 16 : 12)));
}

async function readThin(reader: BinaryReader): Promise<LinkedBinary | undefined> {
  if (reader.size < 28) return undefined;
  const header = await reader.bytes(0, 28);
  const magic = header.readUInt32LE(0);
  if (magic !== MAGIC_32 && magic !== MAGIC_64) return undefined;
  const commandsBytes = header.readUInt32LE(20);
  if (commandsBytes > COMMANDS_BYTES_MAX) {
    throw new BinaryFormatError('the load commands of the Mach-O file are too large');
  }
  const commands = await reader.bytes(magic === MAGIC_64 ? 32 : 28, commandsBytes);
  const needed: string[] = [];
  const runPaths: string[] = [];
  for (const { kind, body } of eachCommand(commands, header.readUInt32LE(16))) {
    if (LOAD_COMMANDS.has(kind)) needed.push(textOf(body));
    if (kind === RUN_PATH_COMMAND) runPaths.push(textOf(body));
  }
  const cpu = header.readUInt32LE(4);
  return {
    format: 'mach-o',
    architecture: CPUS[cpu] ?? `cpu ${cpu}`,
    needed,
    runPaths,
    areRunPathsInherited: true,
  };
}

interface Command {
  readonly kind: number;
  readonly body: Buffer;
}

function* eachCommand(commands: Buffer, count: number): Generator<Command> {
  for (let at = 0, left = count; left > 0; left -= 1) {
    if (at + 8 > commands.length) throw new BinaryFormatError('a Mach-O load command is cut off');
    const size = commands.readUInt32LE(at + 4);
    if (size < 12 && size !== 8) {
      throw new BinaryFormatError('a Mach-O load command is too short');
    }
    yield { kind: commands.readUInt32LE(at), body: commands.subarray(at, at + size) };
    at += size;
  }
}

/** Both kinds of command begin with the offset of their text, relative to the command. */
function textOf(body: Buffer): string {
  const start = body.length < 12 ? body.length : body.readUInt32LE(8);
  const end = body.indexOf(0, start);
  return body.toString('utf8', start, end === -1 ? body.length : end);
}
