import { join } from 'node:path';
import type { Log } from '@model-gateway/kernel';
import { ToolError } from '../errors.ts';
import { chromeBuild, type ChromeBuild } from './chrome-build.ts';
import type { ExpectedChecksum } from './install-browser.ts';
import { isInstalled } from './installed-browser.ts';
import type { ResolveConfig } from './resolve-config.ts';

/** Downloads the pinned build into the shared cache, unless it is there, and returns its executable. */
export async function fetchBrowser(
  config: ResolveConfig,
  log: Log,
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  if (config.skipBrowserFetch) {
    const cached = await findCachedBrowser(config);
    if (cached !== undefined) return cached;
    throw new ToolError('FETCH_DISABLED', 'downloads are disabled by BROWSER_SKIP_BROWSER_FETCH.', {
      hint: 'Unset it, or install a browser and set CHROMIUM_PATH to it.',
    });
  }
  // Loaded on demand: the download code is large, and most machines have a browser.
  const { installBrowser } = await import('./install-browser.ts');
  const { build, cache, expected } = pinnedBuild(config);
  const { downloadProxy: proxy, downloadTimeoutMs: timeoutMs } = config;
  return installBrowser(build, { cache, expected, proxy, timeoutMs, log, signal });
}

/** The pinned build, if an earlier download put it into the shared cache. */
export async function findCachedBrowser(config: ResolveConfig): Promise<string | undefined> {
  const { build, cache, expected } = pinnedBuild(config);
  const folder = join(cache, build.folder);
  const executable = join(folder, build.executable);
  return (await isInstalled(folder, executable, expected?.sha256)) ? executable : undefined;
}

function pinnedBuild(config: ResolveConfig) {
  const { chromeVersion: version, chromeMirror: mirror, os, architecture } = config;
  const build = chromeBuild({ version, mirror, os, architecture });
  return {
    build,
    cache: join(config.cache, 'browsers'),
    expected: expectedChecksum(config, build),
  };
}

function expectedChecksum(
  { chromeSha256, chromeChecksums }: ResolveConfig,
  { version, platform }: ChromeBuild,
): ExpectedChecksum | undefined {
  if (chromeSha256 !== undefined)
    return { sha256: chromeSha256.toLowerCase(), source: 'BROWSER_CHROME_SHA256' };
  const shipped = chromeChecksums[`${version}/${platform}`];
  return shipped === undefined
    ? undefined
    : { sha256: shipped, source: 'the checksum of this release' };
}
