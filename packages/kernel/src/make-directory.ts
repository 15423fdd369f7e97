import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './errors.ts';

/**
 * Makes a directory and those above it; one that is there already stays as it is. Node's own recursive way never ends where a
 * file system, such as `/proc`, says that a parent is missing which is there.
 */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const parent = dirname(path);
    if (errorCode(error) === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (errorCode(error) !== 'ENOENT' || parent === path) throw error;
    // A parent that is there now may have come meanwhile, so that only a second failure counts.
    if (!(await isThere(parent))) await makeDirectory(parent, mode);
    await mkdir(path, { mode }).catch((again: unknown) => {
      // Another process was as quick as we were.
      if (errorCode(again) !== 'EEXIST') throw again;
    });
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
