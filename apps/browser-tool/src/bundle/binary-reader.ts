import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { isError } from '@model-gateway/kernel';

const STRING_BYTES_MAX = 4096;

/** Reads pieces of a file that nobody vouches for: a piece outside of it is a format error, never a crash. */
export interface BinaryReader {
  readonly size: number;
  bytes(offset: number, length: number): Promise<Buffer>;
  /** The text from there to its NUL. */
  text(offset: number): Promise<string>;
}

/** Why a file cannot be read as what its first bytes claim that it is. */
export class BinaryFormatError extends Error {
  override readonly name = 'BinaryFormatError';
}

/** Whether it says that a file is not what its first bytes claim. */
export function isBinaryFormatError(thrown: unknown): boolean {
  return isError(thrown) && thrown.name === 'BinaryFormatError';
}

/** Opens a file for as long as `use` takes; a browser is hundreds of megabytes, of which a few kilobytes are read. */
export async function withBinaryFile<Result>(
  path: string,
  use: (reader: BinaryReader) => Promise<Result>,
): Promise<Result> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return await use(
      createReader(basename(path), size, async (offset, length) => {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
        return buffer.subarray(0, bytesRead);
      }),
    );
  } finally {
    await file.close();
  }
}

/** A part of another reader, as a fat Mach-O file holds one binary for each architecture. */
export function slice(reader: BinaryReader, start: number, size: number): BinaryReader {
  return createReader('slice', size, (offset, length) => reader.bytes(start + offset, length));
}

function createReader(
  name: string,
  size: number,
  read: (offset: number, length: number) => Promise<Buffer>,
): BinaryReader {
  return {
    size,
    async bytes(offset, length) {
      if (!Number.isSafeInteger(offset) || offset < 0 || length < 0 || offset + length > size) {
        throw new BinaryFormatError(
          `${name} ends before byte ${offset + length}, to which it points`,
        );
      }
      return read(offset, length);
    },
    async text(offset) {
      const bytes = await this.bytes(offset, Math.min(STRING_BYTES_MAX, size - offset));
      const end = bytes.indexOf(0);
      return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
    },
  };
}
