import type { Log } from '@model-gateway/kernel';
import { writeBakedBrowser } from './baked-browser.ts';
import { fetchBrowser } from './resolve-browser.ts';
import type { ResolveConfig } from './resolve-config.ts';

/**
 * The build's part in finding a browser: downloads it and writes its path beside the build output. A build that shall not do so
 * takes back what an earlier one wrote. Answers what happened, for whoever builds.
 */
export async function autoFetch(
  config: ResolveConfig,
  isWanted: boolean,
  log: Log,
): Promise<string | undefined> {
  if (!isWanted || config.skipBrowserFetch) {
    await writeBakedBrowser(config.bakedFile, undefined);
    return isWanted
      ? 'No browser was downloaded, because BROWSER_SKIP_BROWSER_FETCH is set.'
      : undefined;
  }
  const executable = await fetchBrowser(config, log);
  await writeBakedBrowser(config.bakedFile, { executable, version: config.chromeVersion });
  return `The browser of this build is ${executable}.`;
}
