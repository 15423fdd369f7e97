import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../errors/errors.ts';

/**
 * Creates a directory and its parents; an existing one is not changed. Node's recursive option never ends where a file
 * system, such as `/proc`, reports an existing parent as missing.
 */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const parent = dirname(path);
    if (errorCode(error) === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (errorCode(error) !== 'ENOENT' || parent === path) throw error;
    // Another process may have created the parent meanwhile, so only a second failure counts.
    if (!(await exists(parent))) await makeDirectory(parent, mode);
    await mkdir(path, { mode }).catch((again: unknown) => {
      // Another process created it meanwhile.
      if (errorCode(again) !== 'EEXIST') throw again;
    });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
