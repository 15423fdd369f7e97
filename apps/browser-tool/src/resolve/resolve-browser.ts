import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { whyNotExecutable, type Log } from '@model-gateway/kernel';
import { ToolError } from '../errors.ts';
import {
  cdpBackendsOf,
  isFfiBackend,
  parseBrowserBackend,
  type BrowserBackend,
  type FfiBackend,
} from './browser-backend.ts';
import { readBakedBrowser } from './baked-browser.ts';
import { chromeBuild, type ChromeBuild } from './chrome-build.ts';
import type { ExpectedChecksum } from './install-browser.ts';
import { findEngineLibrary } from './engine-library.ts';
import { isInstalled } from './installed-browser.ts';
import type { ResolveConfig } from './resolve-config.ts';
import { findSystemBrowser, type CdpBackend } from './system-browsers.ts';

/** How a browser was found. */
export type ResolvedBy = 'override' | 'baked' | 'system' | 'download';

/** A browser that can be started: a program with CDP, or a library with the C interface. */
export type ResolvedBrowser =
  | {
      readonly kind: 'cdp';
      readonly backend: CdpBackend;
      readonly executable: string;
      readonly resolvedBy: ResolvedBy;
      /** The folder of shipped libraries, which the browser searches first. */
      readonly libraryFolder?: string;
    }
  | {
      readonly kind: 'ffi';
      readonly backend: FfiBackend;
      readonly library: string;
      readonly resolvedBy: ResolvedBy;
    };

type CdpBrowser = Extract<ResolvedBrowser, { readonly kind: 'cdp' }>;

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
  const backends = cdpBackendsOf(backend);
  const found =
    (await fromOverride(backends, config)) ??
    (await fromBuild(backends, config, log)) ??
    (await fromSystem(backends, config)) ??
    (await fromCache(backends, config));
  if (found === undefined && (config.skipBrowserFetch || !isDownloadable(backends))) {
    throw notFound(backend, backends, config);
  }
  const browser =
    found ?? cdp(downloadedAs(backends), await fetchBrowser(config, log, signal), 'download');
  const hasLibraries = await isFolder(config.libraryFolder);
  return hasLibraries ? { ...browser, libraryFolder: config.libraryFolder } : browser;
}

/** Downloads the pinned build into the shared cache, unless it is there, and returns its executable. */
export async function fetchBrowser(
  config: ResolveConfig,
  log: Log,
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  if (config.skipBrowserFetch) {
    const cached = await cachedBrowser(config);
    if (cached !== undefined) return cached;
    throw new ToolError('FETCH_DISABLED', 'downloads are disabled by BROWSER_SKIP_BROWSER_FETCH.', {
      hint: 'Unset it, or install a browser and set CHROMIUM_PATH to it.',
    });
  }
  const build = pinnedBuild(config);
  // Loaded on demand: the download code is large, and most machines have a browser.
  const { installBrowser } = await import('./install-browser.ts');
  return installBrowser(build, {
    cache: browserCache(config),
    expected: expectedChecksum(config, build),
    proxy: config.downloadProxy,
    timeoutMs: config.downloadTimeoutMs,
    log,
    signal,
  });
}

/** The pinned build, if an earlier download put it into the shared cache. */
async function cachedBrowser(config: ResolveConfig): Promise<string | undefined> {
  const build = pinnedBuild(config);
  const folder = join(browserCache(config), build.folder);
  const executable = join(folder, build.executable);
  return (await isInstalled(folder, executable, expectedChecksum(config, build)?.sha256))
    ? executable
    : undefined;
}

function expectedChecksum(
  { chromeSha256, chromeChecksums }: ResolveConfig,
  { version, platform }: ChromeBuild,
): ExpectedChecksum | undefined {
  if (chromeSha256 !== undefined)
    return { sha256: chromeSha256.toLowerCase(), source: 'BROWSER_CHROME_SHA256' };
  const shipped = chromeChecksums[`${version}/${platform}`];
  if (shipped === undefined) return undefined;
  return { sha256: shipped, source: 'the checksum of this release' };
}

function pinnedBuild({
  chromeVersion: version,
  chromeMirror: mirror,
  os,
  architecture,
}: ResolveConfig): ChromeBuild {
  return chromeBuild({ version, mirror, os, architecture });
}

function browserCache({ cache }: ResolveConfig): string {
  return join(cache, 'browsers');
}

async function fromOverride(
  backends: readonly CdpBackend[],
  { overrides }: ResolveConfig,
): Promise<CdpBrowser | undefined> {
  for (const backend of backends) {
    for (const { variable, path } of overrides[backend]) {
      if (path === undefined) continue;
      const problem = await whyNotExecutable(path);
      if (problem === undefined) return cdp(backend, path, 'override');
      throw new ToolError('BROWSER_NOT_FOUND', `${variable} is set to ${path}, which ${problem}.`, {
        hint: `Set ${variable} to the executable of a browser, or unset it to let the tool search.`,
        details: { variable, path },
      });
    }
  }
  return undefined;
}

async function fromBuild(
  backends: readonly CdpBackend[],
  { bakedFile }: ResolveConfig,
  log: Log,
): Promise<CdpBrowser | undefined> {
  if (!isDownloadable(backends)) return undefined;
  const baked = await readBakedBrowser(bakedFile, log);
  return baked === undefined ? undefined : cdp(downloadedAs(backends), baked.executable, 'baked');
}

async function fromSystem(
  backends: readonly CdpBackend[],
  { systemBrowsers, searchPath }: ResolveConfig,
): Promise<CdpBrowser | undefined> {
  for (const backend of backends) {
    const executable = await findSystemBrowser(systemBrowsers[backend], searchPath);
    if (executable !== undefined) return cdp(backend, executable, 'system');
  }
  return undefined;
}

/** If downloads are disabled, an earlier download is still used. */
async function fromCache(
  backends: readonly CdpBackend[],
  config: ResolveConfig,
): Promise<CdpBrowser | undefined> {
  if (!config.skipBrowserFetch || !isDownloadable(backends)) return undefined;
  // There may be no build for this machine.
  const executable = await cachedBrowser(config).catch(() => undefined);
  return executable === undefined ? undefined : cdp(downloadedAs(backends), executable, 'download');
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}

/** The download is Chrome for Testing, which is used for Chrome and Chromium but not for Edge. */
function isDownloadable(backends: readonly CdpBackend[]): boolean {
  return backends.some((backend) => backend !== 'edge');
}

function downloadedAs(backends: readonly CdpBackend[]): CdpBackend {
  return backends[0] ?? 'chrome';
}

function cdp(backend: CdpBackend, executable: string, resolvedBy: ResolvedBy): CdpBrowser {
  return { kind: 'cdp', backend, executable, resolvedBy };
}

function notFound(
  backend: BrowserBackend,
  backends: readonly CdpBackend[],
  { overrides, systemBrowsers }: ResolveConfig,
): ToolError {
  const names = backends.length === 1 ? backend : 'chrome, chromium or edge';
  const variables = backends.flatMap((name) => overrides[name].map(({ variable }) => variable));
  const places = backends.flatMap((name) => systemBrowsers[name]);
  const programs = places.filter((place) => !isAbsolute(place));
  const paths = places.filter((place) => isAbsolute(place));
  const tried = [
    ...variables.map((variable) => `${variable} (unset)`),
    `PATH: ${programs.join(', ')}`,
    ...paths,
  ];
  const download = isDownloadable(backends)
    ? 'download disabled by BROWSER_SKIP_BROWSER_FETCH'
    : 'edge is never downloaded';
  const variable = backend === 'auto' ? 'CHROMIUM_PATH' : (variables[0] ?? 'CHROMIUM_PATH');
  const example = { CHROME_PATH: 'chrome', CHROMIUM_PATH: 'chromium', EDGE_PATH: 'msedge' }[
    variable
  ];
  return new ToolError(
    'BROWSER_NOT_FOUND',
    `no ${names} found. Tried ${tried.join(', ')}; ${download}.`,
    {
      hint: `Install one or set ${variable}=/path/to/${example ?? 'chromium'}.`,
      details: { backend, tried },
    },
  );
}
