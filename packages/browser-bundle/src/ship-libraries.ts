import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeDirectory } from '@model-gateway/kernel';
import { BundleListError, type BundledLibrary } from './bundle-list.ts';

const FOLDER_MODE = 0o755;

/** Replaces the content of a folder with the listed libraries; removes the folder if none are listed. */
export async function shipLibraries(
  libraries: readonly BundledLibrary[],
  folder: string,
): Promise<readonly string[]> {
  const missing = libraries.filter(({ state, optional }) => state === 'missing' && !optional);
  if (missing.length > 0) {
    const places = missing.map(({ path, source }) => `${path} (${source})`);
    throw new BundleListError(`libraries to ship not found: ${places.join(', ')}`);
  }
  const found = [
    ...new Set(libraries.filter(({ state }) => state === 'found').map(({ path }) => path)),
  ];
  const names = found.map((path) => basename(path));
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) {
    throw new BundleListError(`two libraries to ship are both named ${duplicate}`);
  }
  await rm(folder, { recursive: true, force: true });
  if (found.length === 0) return [];
  await makeDirectory(dirname(folder), FOLDER_MODE);
  const copies = await mkdtemp(`${folder}-`);
  await Promise.all(found.map((path) => copyFile(path, join(copies, basename(path)))));
  await rename(copies, folder);
  return found;
}
