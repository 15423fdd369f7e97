import { readFile, rm, writeFile } from 'node:fs/promises';
import { tryParseJson, whyNotExecutable, type Log } from '@model-gateway/kernel';
import { z } from 'zod';
import { fetchBrowser } from './fetch-browser.ts';
import type { ResolveConfig } from './resolve-config.ts';

const bakedShape = z.object({ executable: z.string(), version: z.string() });

/**
 * Downloads a browser during the build and writes its path beside the build output. If this is disabled, it removes what an earlier
 * build wrote. Returns a message for the build's output.
 */
export async function autoFetch(
  config: ResolveConfig,
  isEnabled: boolean,
  log: Log,
): Promise<string | undefined> {
  const { bakedFile, chromeVersion: version, skipBrowserFetch } = config;
  if (!isEnabled || skipBrowserFetch) {
    await rm(bakedFile, { force: true });
    return isEnabled
      ? 'No browser was downloaded, because BROWSER_SKIP_BROWSER_FETCH is set.'
      : undefined;
  }
  const executable = await fetchBrowser(config, log);
  await writeFile(bakedFile, `${JSON.stringify({ executable, version })}\n`);
  return `The browser of this build is ${executable}.`;
}

/** The browser that the build downloaded; undefined if there is none or it no longer exists. */
export async function readBakedBrowser(file: string, log: Log): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const baked = bakedShape.safeParse(tryParseJson(text));
  const problem = baked.success
    ? await whyNotExecutable(baked.data.executable)
    : 'is not valid JSON of the expected shape';
  if (baked.success && problem === undefined) return baked.data.executable;
  log.warn({ file, problem }, 'ignoring the browser of the build');
  return undefined;
}
