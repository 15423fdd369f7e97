import { randomUUID } from 'node:crypto';
import { mkdir, open, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '@model-gateway/contracts';
import { isFairShare } from '@model-gateway/kernel';

/** Temporary files for uploads, with a limit over all of a process, which the users share fairly. */
export interface UploadFiles {
  /** The owner is who sends the file. */
  create(owner: string): Promise<UploadFile>;
}

/** One temporary file. */
export interface UploadFile {
  readonly bytes: number;
  /** Appends; rejects when the files of its owner, or of this process, have too many bytes. */
  write(chunk: Buffer): Promise<void>;
  /** Reads it from the beginning, any number of times. */
  read(): AsyncGenerator<Buffer>;
  /** Removes it. */
  close(): Promise<void>;
}

interface UploadFilesOptions {
  /** Created if it does not exist. */
  readonly folder: string;
  /** Of all files together. */
  readonly bytesMax: number;
}

const READ_BYTES = 64 * 1024;
const RETRY_AFTER_SECS = 5;

export function createUploadFiles({ folder, bytesMax }: UploadFilesOptions): UploadFiles {
  let heldBytes = 0;
  const owners = new Map<string, number>();

  /** The only file of an owner may be as large as what is left, because it is not known how much follows. */
  function reserve(owner: string, fileBytes: number, bytes: number): void {
    const ofOwner = owners.get(owner) ?? 0;
    const ownBytes = ofOwner === fileBytes ? 0 : ofOwner;
    if (!isFairShare({ bytesMax, heldBytes, ownBytes }, bytes)) throw tooManyUploads();
    heldBytes += bytes;
    owners.set(owner, ofOwner + bytes);
  }

  function release(owner: string, bytes: number): void {
    heldBytes -= bytes;
    const left = (owners.get(owner) ?? 0) - bytes;
    if (left > 0) owners.set(owner, left);
    else owners.delete(owner);
  }

  return {
    async create(owner) {
      const handle = await openUnnamed(folder);
      let bytes = 0;
      let isClosed = false;
      return {
        get bytes() {
          return bytes;
        },
        async write(chunk) {
          reserve(owner, bytes, chunk.length);
          const position = bytes;
          bytes += chunk.length;
          await writeAll(handle, chunk, position);
        },
        read: () => readAll(handle, bytes),
        async close() {
          if (isClosed) return;
          isClosed = true;
          release(owner, bytes);
          await handle.close();
        },
      };
    },
  };
}

/** The name is removed at once: whatever happens to this process, no file stays. */
async function openUnnamed(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

async function writeAll(handle: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let at = 0; at < chunk.length;) {
    const { bytesWritten } = await handle.write(chunk, at, chunk.length - at, position + at);
    at += bytesWritten;
  }
}

async function* readAll(handle: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < bytes;) {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, position);
    if (bytesRead === 0) throw new Error('a temporary file ended early');
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const tooManyUploads = (): ServiceError =>
  new ServiceError(
    'rate_limit_exceeded',
    'too many uploads are in progress; try again later, or send the model before the file',
    { details: { retry_after_secs: RETRY_AFTER_SECS } },
  );
