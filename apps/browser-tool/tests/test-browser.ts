import { existsSync } from 'node:fs';
import { fullSize } from '@model-gateway/testkit';

const HEADLESS_SHELL = '/usr/lib/chromium/chromium-headless-shell';

/**
 * The variables that choose the browser of tests: Debian's headless shell where it is installed. It is also what the tool
 * downloads, and takes a third less CPU time. The full run uses the browser that the tool finds.
 */
export function testBrowser(): Readonly<Record<string, string>> {
  const isFull = fullSize(1, { small: 0 }) === 1;
  return !isFull && existsSync(HEADLESS_SHELL) ? { CHROMIUM_PATH: HEADLESS_SHELL } : {};
}
