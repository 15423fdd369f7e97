import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { whyNotExecutable, type Log } from '@model-gateway/kernel';
import { ToolError } from '../errors.ts';
import { readBakedBrowser } from './baked-browser.ts';
import {
  CDP_BACKENDS,
  isFfiBackend,
  parseBrowserBackend,
  type BrowserBackend,
  type CdpBackend,
  type FfiBackend,
} from './browser-backend.ts';
import { findEngineLibrary } from './engine-library.ts';
import { fetchBrowser, findCachedBrowser } from './fetch-browser.ts';
import type { ResolveConfig } from './resolve-config.ts';
import { findSystemBrowser } from './system-browsers.ts';

/** How a browser was found. */
export type ResolvedBy = 'override' | 'baked' | 'system' | 'download';

interface FoundBrowser {
  readonly backend: CdpBackend;
  readonly executable: string;
  readonly resolvedBy: ResolvedBy;
}

/** A browser that can be started: a program with CDP, or a library with the C interface. */
export type ResolvedBrowser =
  | (FoundBrowser & {
      readonly kind: 'cdp';
      /** The folder of shipped libraries, which the browser searches first. */
      readonly libraryFolder?: string;
    })
  | {
      readonly kind: 'ffi';
      readonly backend: FfiBackend;
      readonly library: string;
      readonly resolvedBy: ResolvedBy;
    };

/** Finds the browser to start: from a variable, from the build, from the system, and last by a download, which the signal aborts. */
export async function resolveBrowser(
  config: ResolveConfig,
  log: Log,
  signal?: AbortSignal,
): Promise<ResolvedBrowser> {
  const backend = parseBrowserBackend(config.backend);
  if (isFfiBackend(backend)) {
    return { kind: 'ffi', backend, ...(await findEngineLibrary(backend, config)) };
  }
  const backends = backend === 'auto' ? CDP_BACKENDS : [backend];
  const found =
    (await fromOverride(backends, config)) ??
    (await fromBuild(backend, config, log)) ??
    (await fromSystem(backends, config)) ??
    (await fromDownload(backend, config, log, signal));
  if (found === undefined) throw notFound(backend, backends, config);
  const hasLibraries = await isFolder(config.libraryFolder);
  return {
    kind: 'cdp',
    ...found,
    ...(hasLibraries ? { libraryFolder: config.libraryFolder } : {}),
  };
}

async function fromOverride(
  backends: readonly CdpBackend[],
  { overrides }: ResolveConfig,
): Promise<FoundBrowser | undefined> {
  for (const backend of backends) {
    for (const { variable, path } of overrides[backend]) {
      if (path === undefined) continue;
      const problem = await whyNotExecutable(path);
      if (problem === undefined) return { backend, executable: path, resolvedBy: 'override' };
      throw new ToolError('BROWSER_NOT_FOUND', `${variable} is set to ${path}, which ${problem}.`, {
        hint: `Set ${variable} to the executable of a browser, or unset it to let the tool search.`,
        details: { variable, path },
      });
    }
  }
  return undefined;
}

async function fromBuild(
  backend: CdpBackend | 'auto',
  { bakedFile }: ResolveConfig,
  log: Log,
): Promise<FoundBrowser | undefined> {
  const downloaded = downloadedAs(backend);
  const executable = downloaded === undefined ? undefined : await readBakedBrowser(bakedFile, log);
  return downloaded === undefined || executable === undefined
    ? undefined
    : { backend: downloaded, executable, resolvedBy: 'baked' };
}

async function fromSystem(
  backends: readonly CdpBackend[],
  { systemBrowsers, searchPath }: ResolveConfig,
): Promise<FoundBrowser | undefined> {
  for (const backend of backends) {
    const executable = await findSystemBrowser(systemBrowsers[backend], searchPath);
    if (executable !== undefined) return { backend, executable, resolvedBy: 'system' };
  }
  return undefined;
}

async function fromDownload(
  backend: CdpBackend | 'auto',
  config: ResolveConfig,
  log: Log,
  signal: AbortSignal | undefined,
): Promise<FoundBrowser | undefined> {
  const downloaded = downloadedAs(backend);
  if (downloaded === undefined) return undefined;
  // If downloads are disabled, an earlier one is still used. There may be no build for this machine.
  const executable = config.skipBrowserFetch
    ? await findCachedBrowser(config).catch(() => undefined)
    : await fetchBrowser(config, log, signal);
  return executable === undefined
    ? undefined
    : { backend: downloaded, executable, resolvedBy: 'download' };
}

/** The download is Chrome for Testing, which is used for Chrome and Chromium but not for Edge. */
function downloadedAs(backend: CdpBackend | 'auto'): CdpBackend | undefined {
  if (backend === 'edge') return undefined;
  return backend === 'auto' ? 'chrome' : backend;
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}

const EXAMPLES: Readonly<Record<string, string>> = { CHROME_PATH: 'chrome', EDGE_PATH: 'msedge' };

function notFound(
  backend: BrowserBackend,
  backends: readonly CdpBackend[],
  { overrides, systemBrowsers }: ResolveConfig,
): ToolError {
  const names = backends.length === 1 ? backend : 'chrome, chromium or edge';
  const variables = backends.flatMap((name) => overrides[name].map(({ variable }) => variable));
  const places = backends.flatMap((name) => systemBrowsers[name]);
  const tried = [
    ...variables.map((variable) => `${variable} (unset)`),
    `PATH: ${places.filter((place) => !isAbsolute(place)).join(', ')}`,
    ...places.filter((place) => isAbsolute(place)),
  ];
  const download =
    backend === 'edge'
      ? 'edge is never downloaded'
      : 'download disabled by BROWSER_SKIP_BROWSER_FETCH';
  const variable = backend === 'auto' ? 'CHROMIUM_PATH' : (variables[0] ?? 'CHROMIUM_PATH');
  return new ToolError(
    'BROWSER_NOT_FOUND',
    `no ${names} found. Tried ${tried.join(', ')}; ${download}.`,
    {
      hint: `Install one or set ${variable}=/path/to/${EXAMPLES[variable] ?? 'chromium'}.`,
      details: { backend, tried },
    },
  );
}
