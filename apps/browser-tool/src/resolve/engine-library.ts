import { join } from 'node:path';
import { isFile } from '@model-gateway/kernel';
import { ToolError } from '../errors.ts';
import type { FfiBackend } from './browser-backend.ts';
import type { ResolveConfig } from './resolve-config.ts';

const EXTENSIONS: Readonly<Record<string, string>> = { darwin: 'dylib', win32: 'dll' };

/** The path of a vendor's library and how it was found. */
interface EngineLibrary {
  readonly library: string;
  readonly resolvedBy: 'override' | 'baked' | 'system';
}

/** Finds the library of an engine: by its variable, then beside the tool, then in the cache. It is never downloaded. */
export async function findEngineLibrary(
  backend: FfiBackend,
  { overrides, shippedFolders, cache, os }: ResolveConfig,
): Promise<EngineLibrary> {
  const file = `libbrowser_engine_${backend}.${EXTENSIONS[os] ?? 'so'}`;
  const variables = overrides[backend];
  const notFound = (reason: string): ToolError =>
    new ToolError('ENGINE_LIB_NOT_FOUND', `${reason}.`, {
      hint:
        `Get ${file} from the vendor of the engine (built against include/browser_engine.h) and set ${variables[0]?.variable ?? 'BROWSER_ENGINE_PATH'} to it, ` +
        'or set BROWSER_BACKEND=auto to use an ordinary browser.',
      details: { backend },
    });
  const configured = variables.find(({ path }) => path !== undefined);
  if (configured?.path !== undefined) {
    const { variable, path } = configured;
    if (await isFile(path)) return { library: path, resolvedBy: 'override' };
    throw notFound(`${variable} is set to ${path}, which is not a file`);
  }
  const shipped = shippedFolders.map((folder) => join(folder, file));
  for (const library of shipped) if (await isFile(library)) return { library, resolvedBy: 'baked' };
  const cached = join(cache, 'engines', backend, file);
  if (await isFile(cached)) return { library: cached, resolvedBy: 'system' };
  const tried = [...variables.map(({ variable }) => `${variable} (unset)`), ...shipped, cached];
  throw notFound(`no library of the ${backend} engine was found; tried ${tried.join(', ')}`);
}
