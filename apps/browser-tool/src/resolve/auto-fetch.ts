import type { Log } from '@model-gateway/kernel';
import { writeBakedBrowser } from './baked-browser.ts';
import { fetchBrowser } from './resolve-browser.ts';
import type { ResolveConfig } from './resolve-config.ts';

/**
 * Downloads a browser during the build and writes its path beside the build output. If this is disabled, it removes what an earlier
 * build wrote. Returns a message for the build's output.
 */
export async function autoFetch(
  config: ResolveConfig,
  isEnabled: boolean,
  log: Log,
): Promise<string | undefined> {
  if (!isEnabled || config.skipBrowserFetch) {
    await writeBakedBrowser(config.bakedFile, undefined);
    return isEnabled
      ? 'No browser was downloaded, because BROWSER_SKIP_BROWSER_FETCH is set.'
      : undefined;
  }
  const executable = await fetchBrowser(config, log);
  await writeBakedBrowser(config.bakedFile, { executable, version: config.chromeVersion });
  return `The browser of this build is ${executable}.`;
}
