import { open } from 'node:fs/promises';
import { basename } from 'node:path';

const STRING_BYTES_MAX = 4096;

/** Reads parts of an untrusted file; an offset outside of the file is a format error, never a crash. */
export interface BinaryReader {
  readonly size: number;
  bytes(offset: number, length: number): Promise<Buffer>;
  /** The text from the offset to the next NUL byte. */
  text(offset: number): Promise<string>;
}

/** The content of a file does not match the format that its first bytes announce. */
export class BinaryFormatError extends Error {
  override readonly name = 'BinaryFormatError';
}

/** Opens a file while `use` runs. Only the parts that are asked for are read: a browser has hundreds of megabytes. */
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

/** A part of another reader: a fat Mach-O file contains one binary for each architecture. */
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
          `${name} ends before byte ${offset + length}, which it refers to`,
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
