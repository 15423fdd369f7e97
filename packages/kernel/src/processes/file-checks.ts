import { access, constants, stat } from 'node:fs/promises';

/** Whether a path is an existing file. */
export function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}

/** Why a path is not executable, as text that follows "which"; undefined if it is executable. */
export async function whyNotExecutable(path: string): Promise<string | undefined> {
  const entry = await stat(path).catch(() => undefined);
  if (entry === undefined) return 'does not exist';
  if (!entry.isFile()) return 'is not a file';
  return access(path, constants.X_OK).then(
    () => undefined,
    () => 'is not executable',
  );
}

/** Whether a path is an executable file. */
export async function isExecutable(path: string): Promise<boolean> {
  return (await whyNotExecutable(path)) === undefined;
}
