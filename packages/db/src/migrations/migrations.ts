import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileInPackage } from './file-in-package.ts';

/** One step of the database's history. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** The names of all migrations in a prisma folder, oldest first. */
export async function listMigrations(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(folder, 'migrations'), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();
}

export function readMigrations(
  folder: string,
  names: readonly string[],
): Promise<readonly Migration[]> {
  return Promise.all(
    names.map(async (name) => ({
      name,
      sql: await readFile(join(folder, 'migrations', name, 'migration.sql'), 'utf8'),
    })),
  );
}

/** The folder of the schema and its migrations: a build has a copy beside the compiled code, the sources use the original. */
export function prismaFolder(): string {
  const copy = fileInPackage('./prisma/');
  return existsSync(copy) ? copy : fileInPackage('../../../prisma/');
}
