import { join } from 'node:path';
import { isFile } from '@model-gateway/kernel';
import { ToolError } from '../errors.ts';
import type { FfiBackend } from './browser-backend.ts';
import type { ResolveConfig } from './resolve-config.ts';

const EXTENSIONS: Readonly<Record<string, string>> = { darwin: 'dylib', win32: 'dll' };

/** The path of a vendor's library and how it was found. */
export interface EngineLibrary {
  readonly library: string;
  readonly resolvedBy: 'override' | 'baked' | 'system';
}

/** Finds the library of an engine: by its variable, then beside the tool, then in the cache. It is never downloaded. */
export async function findEngineLibrary(
  backend: FfiBackend,
  { overrides, shippedFolders, cache, os }: ResolveConfig,
): Promise<EngineLibrary> {
  const file = `libbrowser_engine_${backend}.${EXTENSIONS[os] ?? 'so'}`;
  const configured = overrides[backend].find(({ path }) => path !== undefined);
  if (configured?.path !== undefined) {
    if (await isFile(configured.path)) return { library: configured.path, resolvedBy: 'override' };
    throw notFound(
      backend,
      file,
      `${configured.variable} is set to ${configured.path}, which is not a file`,
      overrides[backend][0]?.variable,
    );
  }
  const shipped = shippedFolders.map((folder) => join(folder, file));
  const cached = join(cache, 'engines', backend, file);
  for (const library of shipped) if (await isFile(library)) return { library, resolvedBy: 'baked' };
  if (await isFile(cached)) return { library: cached, resolvedBy: 'system' };
  const unset = overrides[backend].map(({ variable }) => `${variable} (unset)`);
  throw notFound(
    backend,
    file,
    `no library of the ${backend} engine was found; tried ${[...unset, ...shipped, cached].join(', ')}`,
    overrides[backend][0]?.variable,
  );
}

function notFound(
  backend: FfiBackend,
  file: string,
  reason: string,
  variable: string | undefined,
): ToolError {
  return new ToolError('ENGINE_LIB_NOT_FOUND', `${reason}.`, {
    hint:
      `Get ${file} from the vendor of the engine (built against include/browser_engine.h) and set ${variable ?? 'BROWSER_ENGINE_PATH'} to it, ` +
      'or set BROWSER_BACKEND=auto to use an ordinary browser.',
    details: { backend },
  });
}
