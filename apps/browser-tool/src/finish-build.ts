import { fileURLToPath } from 'node:url';
import { createLog, describeError } from '@model-gateway/kernel';
import { readBundleList } from './bundle/bundle-list.ts';
import { shipLibraries } from './bundle/ship-libraries.ts';
import { readBrowserToolConfig, readBundleConfig } from './config.ts';
import { autoFetch } from './resolve/index.ts';
import { ToolError } from './tool-error.ts';

// The build ends with this, after the compiler: it fetches a browser (BROWSER_AUTO_FETCH) and brings libraries along
// (BROWSER_BUNDLE_LIBS, BROWSER_BUNDLE_MANIFEST). With none of them set it only takes back what an earlier build did.
async function finishBuild(): Promise<void> {
  const config = readBrowserToolConfig();
  const log = createLog({ level: config.logLevel, app: 'browser-tool' });
  const libraries = await readBundleList(readBundleConfig());
  const shipped = await shipLibraries(libraries, fileURLToPath(new URL('lib', import.meta.url)));
  for (const path of shipped) process.stdout.write(`Shipped ${path}.\n`);
  const told = await autoFetch(config.resolve, config.autoFetch, log);
  if (told !== undefined) process.stdout.write(`${told}\n`);
}

await finishBuild().catch((error: unknown) => {
  const told =
    error instanceof ToolError ? `${error.code}: ${error.sentence}` : describeError(error);
  process.stderr.write(`browser-tool: the build is not complete: ${told}\n`);
  process.exitCode = 1;
});
