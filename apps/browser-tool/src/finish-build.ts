import { fileURLToPath } from 'node:url';
import { readBundleList, shipLibraries } from '@model-gateway/browser-bundle';
import { createLog, describeError } from '@model-gateway/kernel';
import { readBrowserToolConfig, readBundleConfig } from './config.ts';
import { autoFetch } from './resolve/index.ts';
import { ToolError } from './errors.ts';

// The last step of the build: downloads a browser (BROWSER_AUTO_FETCH) and copies libraries (BROWSER_BUNDLE_LIBS,
// BROWSER_BUNDLE_MANIFEST). Without these settings it removes what an earlier build added.
async function finishBuild(): Promise<void> {
  const config = readBrowserToolConfig();
  const log = createLog({ level: config.logLevel, app: 'browser-tool' });
  const libraries = await readBundleList(readBundleConfig());
  const shipped = await shipLibraries(libraries, fileURLToPath(new URL('lib', import.meta.url)));
  for (const path of shipped) process.stdout.write(`Shipped ${path}.\n`);
  const message = await autoFetch(config.resolve, config.autoFetch, log);
  if (message !== undefined) process.stdout.write(`${message}\n`);
}

await finishBuild().catch((error: unknown) => {
  const reason =
    error instanceof ToolError ? `${error.code}: ${error.sentence}` : describeError(error);
  process.stderr.write(`browser-tool: the build failed: ${reason}\n`);
  process.exitCode = 1;
});
