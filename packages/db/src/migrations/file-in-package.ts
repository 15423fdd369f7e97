import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A path relative to the index of this package, which a bundle finds by the package's name. */
export const fileInPackage = (path: string): string =>
  join(dirname(createRequire(import.meta.url).resolve('@model-gateway/db')), path);
