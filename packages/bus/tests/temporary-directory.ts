import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory for one test. */
export const makeTemporaryDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'bus-test-'));

export const removeDirectory = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true });
