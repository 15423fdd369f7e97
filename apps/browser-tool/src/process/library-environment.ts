import { delimiter } from 'node:path';

const VARIABLES: Readonly<Record<string, string>> = { darwin: 'DYLD_LIBRARY_PATH', win32: 'PATH' };

type Variables = Readonly<Record<string, string | undefined>>;

/** The environment of a program that searches a folder for its libraries first. */
export function withLibraryFolder(
  environment: Variables,
  folder: string | undefined,
  platform: string = process.platform,
): Variables {
  if (folder === undefined) return environment;
  const name = VARIABLES[platform] ?? 'LD_LIBRARY_PATH';
  const before = environment[name];
  // An empty part would mean the working directory.
  const folders = before === undefined || before === '' ? [folder] : [folder, before];
  return { ...environment, [name]: folders.join(delimiter) };
}
