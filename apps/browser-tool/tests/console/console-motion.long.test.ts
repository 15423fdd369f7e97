import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  preparedDataDir,
  startProcess,
  temporaryDataDir,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { testBrowser } from '../test-browser.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { createConsolePage, registerAdmin, type ConsolePage } from './console-page.ts';

// In a browser whose user wants less motion, nothing of the console moves.

const ADMIN = { email: 'admin@example.com', password: 'a long password' };
const FRAME_SECS = 0.016;
const CHROMIUM = '/usr/bin/chromium';

let data: TemporaryFolder;
let folder: TemporaryFolder;
let service: TestProcess;
let tool: ToolUnderTest;
let page: ConsolePage;

beforeAll(async () => {
  data = await preparedDataDir();
  folder = await temporaryDataDir();
  service = await startProcess({
    app: 'standalone',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', SERVICE_DATA_DIR: data.path },
  });
  await registerAdmin(service.url, ADMIN);
  tool = await startTool({ env: { CHROMIUM_PATH: await stillBrowser(folder.path) } });
  page = createConsolePage(tool, service.url);
  await page.signIn(ADMIN);
});
afterAll(async () => {
  await tool.close();
  await service.stop();
  await Promise.all([data.remove(), folder.remove()]);
});

/** The browser of the tests, as if its user had chosen less motion. */
async function stillBrowser(path: string): Promise<string> {
  const program = join(path, 'still-chromium');
  const { CHROMIUM_PATH: executable = CHROMIUM } = testBrowser();
  await writeFile(program, `#!/bin/sh\nexec ${executable} --force-prefers-reduced-motion "$@"\n`);
  await chmod(program, 0o755);
  return program;
}

/** The seconds of the longest animation or transition that the styles of the page allow, or that runs now. */
const longestMotion = (): Promise<unknown> =>
  page.evaluate(`(() => {
    const seconds = (text) => text.split(',').map((one) => Number.parseFloat(one));
    const styles = [...document.querySelectorAll('*')].flatMap((element) =>
      [null, '::before', '::after'].map((part) => getComputedStyle(element, part)),
    );
    return Math.max(
      ...styles.flatMap((style) => seconds(style.animationDuration)),
      ...styles.flatMap((style) => seconds(style.transitionDuration)),
      ...document.getAnimations().map(({ effect }) => effect.getComputedTiming().endTime / 1000),
    );
  })()`);

test('what moves for others is still', async () => {
  await page.open('/console/keys');
  expect(await page.evaluate('matchMedia("(prefers-reduced-motion: reduce)").matches')).toBe(true);
  // Both are on a page only for a moment.
  await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend',
    '<div class="skeleton-line"></div><div class="progress-line progress-line-on"></div>')`);
  const styles = await page.evaluate(`[
    getComputedStyle(document.querySelector('.skeleton-line')).animationName,
    getComputedStyle(document.querySelector('.progress-line-on')).transitionProperty,
  ]`);
  expect(styles).toEqual(['pulse', 'transform']);
  expect(await longestMotion()).toBeLessThanOrEqual(FRAME_SECS);
});

test.each(['playground', 'keys', 'overview', 'requests', 'groups', 'backends', 'settings'])(
  'nothing on %s moves for longer than a frame',
  async (name) => {
    await page.open(`/console/${name}`);
    expect(await longestMotion()).toBeLessThanOrEqual(FRAME_SECS);
  },
);

test('neither a dialog nor the search moves while it opens and closes', async () => {
  await page.open('/console/keys');
  await page.press('Create a key');
  await page.see('A label for reports');
  expect(await longestMotion()).toBeLessThanOrEqual(FRAME_SECS);
  await page.key('Escape');
  expect(await longestMotion()).toBeLessThanOrEqual(FRAME_SECS);
  await page.key('Control+k');
  await page.see('Pages');
  expect(await longestMotion()).toBeLessThanOrEqual(FRAME_SECS);
});
