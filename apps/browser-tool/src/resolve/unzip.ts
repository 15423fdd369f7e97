import { createWriteStream } from 'node:fs';
import { realpath, symlink } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { makeDirectory } from '@model-gateway/kernel';
import { openPromise, type Entry, type ZipFile } from 'yauzl';

const ENTRIES_MAX = 20_000;
const UNPACKED_BYTES_MAX = 4 * 1024 ** 3;
const FOLDER_MODE = 0o755;
const FILE_MODE_DEFAULT = 0o644;
const KIND_MASK = 0o170000;
const KIND_LINK = 0o120000;

interface Link {
  readonly path: string;
  readonly target: string;
}

/** Unpacks an untrusted archive: no entry can be written outside of the folder, by its name or through a link. */
export async function unzip(archive: string, folder: string): Promise<void> {
  const zip = await openPromise(archive, { strictFileNames: true });
  try {
    if (zip.entryCount > ENTRIES_MAX) throw new Error(`it has more than ${ENTRIES_MAX} entries`);
    const links: Link[] = [];
    let unpackedBytes = 0;
    for await (const entry of zip.eachEntry()) {
      unpackedBytes += entry.uncompressedSize;
      if (unpackedBytes > UNPACKED_BYTES_MAX) throw new Error('it unpacks to more than 4 GiB');
      const link = await unpackEntry(zip, entry, folder);
      if (link !== undefined) links.push(link);
    }
    await makeLinks(links, folder);
  } finally {
    zip.close();
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, folder: string): Promise<Link | undefined> {
  const path = resolve(folder, entry.fileName);
  if (!isInside(path, folder)) throw new Error(`the entry ${entry.fileName} leads outside of it`);
  if (entry.fileName.endsWith('/')) {
    await makeDirectory(path, FOLDER_MODE);
    return undefined;
  }
  await makeDirectory(dirname(path), FOLDER_MODE);
  const mode = entry.externalFileAttributes >>> 16;
  const stream = await zip.openReadStreamPromise(entry);
  if ((mode & KIND_MASK) === KIND_LINK) return { path, target: await text(stream) };
  // A duplicate entry is an error; it never overwrites a file.
  const options = { flags: 'wx', mode: mode === 0 ? FILE_MODE_DEFAULT : (mode & 0o777) | 0o600 };
  await pipeline(stream, createWriteStream(path, options));
  return undefined;
}

/** Creates links last, so that no file is written through one. Each must resolve to a path inside, also through other links. */
async function makeLinks(links: readonly Link[], folder: string): Promise<void> {
  for (const { path, target } of links) await symlink(target, path);
  const root = await realpath(folder);
  for (const { path, target } of links) {
    const end = await realpath(path);
    if (end !== root && !isInside(end, root)) {
      throw new Error(`the link ${join(relative(folder, path))} to ${target} leads outside of it`);
    }
  }
}

function isInside(path: string, folder: string): boolean {
  return path === resolve(folder) || path.startsWith(`${resolve(folder)}${sep}`);
}
