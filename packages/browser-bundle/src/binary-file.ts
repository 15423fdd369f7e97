import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

const TEXT_BYTES_MAX = 4096;

/** Numbers and texts of an untrusted file. An offset outside of it is a format error, never a crash. */
export interface BinaryFile {
  readonly size: number;
  /** Whether a text begins at an offset. */
  has(text: string, offset: number): boolean;
  /** An unsigned number of 1, 2, 4 or 8 bytes. */
  uint(offset: number, bytes: number): number;
  /** The text from an offset to the next NUL byte. */
  text(offset: number): string;
  /** The same file with the most significant byte of a number first. */
  bigEndian(): BinaryFile;
  slice(start: number, size: number): BinaryFile;
}

/** Bytes of a file, and the address in memory that they are loaded to. */
export interface MappedBytes {
  readonly address: number;
  readonly size: number;
  readonly offset: number;
}

/** The content of a file does not match the format that its first bytes announce. */
export class BinaryFormatError extends Error {
  override readonly name = 'BinaryFormatError';
}

/** Opens a file while `use` runs. Only the parts that are asked for are read: a browser has hundreds of megabytes. */
export function withBinaryFile<Result>(path: string, use: (file: BinaryFile) => Result): Result {
  const descriptor = openSync(path, 'r');
  try {
    const { size } = fstatSync(descriptor);
    return use(
      createFile({ name: basename(path), descriptor, start: 0, size, isBigEndian: false }),
    );
  } finally {
    closeSync(descriptor);
  }
}

/** The offset in the file of an address in memory. */
export function offsetOf(mapped: readonly MappedBytes[], address: number): number {
  const found = mapped.find(
    (each) => address >= each.address && address < each.address + each.size,
  );
  if (found === undefined) {
    throw new BinaryFormatError(`no part of the file is loaded to the address ${address}`);
  }
  return found.offset + (address - found.address);
}

interface FileRange {
  readonly name: string;
  readonly descriptor: number;
  readonly start: number;
  readonly size: number;
  readonly isBigEndian: boolean;
}

function createFile(range: FileRange): BinaryFile {
  const { name, descriptor, start, size, isBigEndian } = range;
  const isInside = (offset: number, length: number): boolean =>
    Number.isSafeInteger(offset) && offset >= 0 && offset + length <= size;

  function read(offset: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    // The file may have become shorter.
    if (
      !isInside(offset, length) ||
      readSync(descriptor, bytes, 0, length, start + offset) < length
    ) {
      throw new BinaryFormatError(
        `${name} ends before byte ${offset + length}, which it refers to`,
      );
    }
    return bytes;
  }

  return {
    size,
    has: (text, offset) =>
      isInside(offset, text.length) && read(offset, text.length).toString('latin1') === text,
    uint(offset, length) {
      const bytes = read(offset, length);
      if (length === 8) {
        return Number(isBigEndian ? bytes.readBigUInt64BE() : bytes.readBigUInt64LE());
      }
      return isBigEndian ? bytes.readUIntBE(0, length) : bytes.readUIntLE(0, length);
    },
    text(offset) {
      const bytes = read(offset, Math.max(0, Math.min(TEXT_BYTES_MAX, size - offset)));
      const end = bytes.indexOf(0);
      return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
    },
    bigEndian: () => createFile({ ...range, isBigEndian: true }),
    slice(offset, length) {
      if (!isInside(offset, length)) {
        throw new BinaryFormatError(`a part of ${name} lies outside of it`);
      }
      return createFile({ ...range, start: start + offset, size: length });
    },
  };
}
