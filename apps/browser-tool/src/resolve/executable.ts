import { access, constants, stat } from 'node:fs/promises';

/** Why a path cannot be started, in words that fit after "which"; undefined is one that can. */
export async function whyNotExecutable(path: string): Promise<string | undefined> {
  const entry = await stat(path).catch(() => undefined);
  if (entry === undefined) return 'does not exist';
  if (!entry.isFile()) return 'is not a file';
  return access(path, constants.X_OK).then(
    () => undefined,
    () => 'is not executable',
  );
}

/** Whether a path can be started. */
export async function isExecutable(path: string): Promise<boolean> {
  return (await whyNotExecutable(path)) === undefined;
}
