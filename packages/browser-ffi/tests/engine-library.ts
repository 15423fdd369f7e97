import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const include = fileURLToPath(new URL('../include', import.meta.url));

/** Where built libraries lie for as long as a test file runs. */
export interface EngineLibraries {
  /** Builds the engine against the shipped header, with these definitions. */
  build(...definitions: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/** A folder for libraries, built from a source beside this file. */
export async function createEngineLibraries(name = 'test-engine.c'): Promise<EngineLibraries> {
  const source = fileURLToPath(new URL(name, import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), 'engine-library-'));
  let built = 0;
  return {
    async build(...definitions) {
      built += 1;
      const library = join(folder, `libengine-${built}.so`);
      const flags = ['-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-I', include];
      const defined = definitions.map((definition) => `-D${definition}`);
      await run('cc', [...flags, ...defined, '-o', library, source, '-lpthread']);
      return library;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
