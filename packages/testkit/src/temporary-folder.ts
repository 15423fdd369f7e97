import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dataDirTemplate } from './config.ts';

/** A folder for one test. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** A data folder for a service with its own stores, accessible to the user that runs Postgres. */
export async function temporaryDataDir(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'model-gateway-data-'));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/**
 * One whose Postgres is set up and migrated already, which takes a first start several seconds; an empty one where the
 * tests use a Postgres that was there before.
 */
export async function preparedDataDir(): Promise<
  TemporaryFolder & { readonly isMigrated: boolean }
> {
  const folder = await temporaryDataDir();
  const template = dataDirTemplate();
  // Node's own copy takes five times the CPU.
  if (template !== undefined) await promisify(execFile)('cp', ['-r', `${template}/.`, folder.path]);
  return { ...folder, isMigrated: template !== undefined };
}
