import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The files of the API viewer, with their types. */
export const VIEWER_FILES = {
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
} as const;

export type ViewerFile = keyof typeof VIEWER_FILES;

/** The content of a file as the build wrote it, gzipped. A bundle finds it by the name of this package. */
export function readViewerFile(name: ViewerFile): Promise<Buffer> {
  const entry = createRequire(import.meta.url).resolve('@model-gateway/http');
  return readFile(join(dirname(entry), '../dist/viewer', `${name}.gz`));
}
