import { fileURLToPath } from 'node:url';

/** A path relative to the index of this package, which a bundle finds by the package's name. */
export const fileInPackage = (path: string): string =>
  fileURLToPath(new URL(path, import.meta.resolve('@model-gateway/db')));
