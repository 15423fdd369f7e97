import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Log } from '@model-gateway/kernel';
import { ToolError } from '../tool-error.ts';
import {
  cdpBackendsOf,
  isFfiBackend,
  parseBrowserBackend,
  type BrowserBackend,
  type FfiBackend,
} from './browser-backend.ts';
import { readBakedBrowser } from './baked-browser.ts';
import { chromeBuild, type ChromeBuild } from './chrome-build.ts';
import { findEngineLibrary } from './engine-library.ts';
import { whyNotExecutable } from './executable.ts';
import { isInstalled } from './installed-browser.ts';
import type { ResolveConfig } from './resolve-config.ts';
import { findSystemBrowser, type CdpBackend } from './system-browsers.ts';

/** How a browser was found. */
export type ResolvedBy = 'override' | 'baked' | 'system' | 'download';

/** A browser that can be started: a program that speaks CDP, or a library behind the C interface. */
export type ResolvedBrowser =
  | {
      readonly kind: 'cdp';
      readonly backend: CdpBackend;
      readonly executable: string;
      readonly resolvedBy: ResolvedBy;
      /** Libraries that are shipped with the tool, for the browser to find first. */
      readonly libraryFolder?: string;
    }
  | {
      readonly kind: 'ffi';
      readonly backend: FfiBackend;
      readonly library: string;
      readonly resolvedBy: ResolvedBy;
    };

type CdpBrowser = Extract<ResolvedBrowser, { readonly kind: 'cdp' }>;

/** Finds the browser to start: what a variable names, what the build fetched, what is installed, and last a download, which the signal ends. */
export async function resolveBrowser(
  config: ResolveConfig,
  log: Log,
  signal?: AbortSignal,
): Promise<ResolvedBrowser> {
  const backend = parseBrowserBackend(config.backend);
  if (isFfiBackend(backend)) {
    return { kind: 'ffi', backend, ...(await findEngineLibrary(backend, config)) };
  }
  const wanted = cdpBackendsOf(backend);
  const found =
    (await fromOverride(wanted, config)) ??
    (await fromBuild(wanted, config, log)) ??
    (await fromSystem(wanted, config)) ??
    (await fromCache(wanted, config));
  if (found === undefined && (config.skipBrowserFetch || !isFetched(wanted))) {
    throw notFound(backend, wanted, config);
  }
  const browser =
    found ?? cdp(fetchedAs(wanted), await fetchBrowser(config, log, signal), 'download');
  const hasLibraries = await isFolder(config.libraryFolder);
  return hasLibraries ? { ...browser, libraryFolder: config.libraryFolder } : browser;
}

/** Downloads the pinned build into the shared cache, unless it is there, and tells its executable. */
export async function fetchBrowser(
  config: ResolveConfig,
  log: Log,
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  if (config.skipBrowserFetch) {
    const cached = await cachedBrowser(config);
    if (cached !== undefined) return cached;
    throw new ToolError(
      'FETCH_DISABLED',
      'nothing is downloaded, because BROWSER_SKIP_BROWSER_FETCH is set.',
      { hint: 'Unset it, or install a browser and set CHROMIUM_PATH to it.' },
    );
  }
  const build = pinnedBuild(config);
  // What downloads is large, and most machines have a browser.
  const { installBrowser } = await import('./install-browser.ts');
  return installBrowser(build, {
    cache: browserCache(config),
    sha256: config.chromeSha256,
    proxy: config.downloadProxy,
    timeoutMs: config.downloadTimeoutMs,
    log,
    signal,
  });
}

/** The pinned build, where an earlier download left it in the shared cache. */
async function cachedBrowser(config: ResolveConfig): Promise<string | undefined> {
  const build = pinnedBuild(config);
  const folder = join(browserCache(config), build.folder);
  const executable = join(folder, build.executable);
  return (await isInstalled(folder, executable, config.chromeSha256)) ? executable : undefined;
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
  wanted: readonly CdpBackend[],
  { overrides }: ResolveConfig,
): Promise<CdpBrowser | undefined> {
  for (const backend of wanted) {
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
  wanted: readonly CdpBackend[],
  { bakedFile }: ResolveConfig,
  log: Log,
): Promise<CdpBrowser | undefined> {
  if (!isFetched(wanted)) return undefined;
  const baked = await readBakedBrowser(bakedFile, log);
  return baked === undefined ? undefined : cdp(fetchedAs(wanted), baked.executable, 'baked');
}

async function fromSystem(
  wanted: readonly CdpBackend[],
  { systemBrowsers, searchPath }: ResolveConfig,
): Promise<CdpBrowser | undefined> {
  for (const backend of wanted) {
    const executable = await findSystemBrowser(systemBrowsers[backend], searchPath);
    if (executable !== undefined) return cdp(backend, executable, 'system');
  }
  return undefined;
}

/** Where nothing may be downloaded, what was downloaded before still serves. */
async function fromCache(
  wanted: readonly CdpBackend[],
  config: ResolveConfig,
): Promise<CdpBrowser | undefined> {
  if (!config.skipBrowserFetch || !isFetched(wanted)) return undefined;
  // There may be no build for this machine at all.
  const executable = await cachedBrowser(config).catch(() => undefined);
  return executable === undefined ? undefined : cdp(fetchedAs(wanted), executable, 'download');
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}

/** What is fetched is Chrome for Testing: it serves as Chrome and as Chromium, and never as Edge. */
function isFetched(wanted: readonly CdpBackend[]): boolean {
  return wanted.some((backend) => backend !== 'edge');
}

function fetchedAs(wanted: readonly CdpBackend[]): CdpBackend {
  return wanted[0] ?? 'chrome';
}

function cdp(backend: CdpBackend, executable: string, resolvedBy: ResolvedBy): CdpBrowser {
  return { kind: 'cdp', backend, executable, resolvedBy };
}

function notFound(
  backend: BrowserBackend,
  wanted: readonly CdpBackend[],
  { overrides, systemBrowsers }: ResolveConfig,
): ToolError {
  const names = wanted.length === 1 ? backend : 'chrome, chromium or edge';
  const variables = wanted.flatMap((name) => overrides[name].map(({ variable }) => variable));
  const places = wanted.flatMap((name) => systemBrowsers[name]);
  const programs = places.filter((place) => !isAbsolute(place));
  const paths = places.filter((place) => isAbsolute(place));
  const tried = [
    ...variables.map((variable) => `${variable} (unset)`),
    `PATH: ${programs.join(', ')}`,
    ...paths,
  ];
  const download = isFetched(wanted)
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
