import { stat } from 'node:fs/promises';

/** Whether a path is an existing file. */
export function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}
