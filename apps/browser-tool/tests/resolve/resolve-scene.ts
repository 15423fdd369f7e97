import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ResolveConfig } from '../../src/resolve/index.ts';

/** A machine of its own for a test: nothing of the real one is found. */
export interface ResolveScene {
  readonly folder: string;
  readonly config: ResolveConfig;
  /** Puts a program there that can be started, and returns its whole path. */
  program(path: string): Promise<string>;
  remove(): Promise<void>;
}

const NONE = { variable: 'UNSET', path: undefined };

/** A machine without any browser, and a mirror that is not there. */
export async function createResolveScene(
  changes: Partial<ResolveConfig> = {},
): Promise<ResolveScene> {
  const folder = await mkdtemp(join(tmpdir(), 'resolve-'));
  const config: ResolveConfig = {
    backend: 'auto',
    overrides: {
      chrome: [{ variable: 'CHROME_PATH', path: undefined }, NONE],
      chromium: [{ variable: 'CHROMIUM_PATH', path: undefined }, NONE],
      edge: [{ variable: 'EDGE_PATH', path: undefined }, NONE],
      firefox: [
        { variable: 'BROWSER_FIREFOX_ENGINE', path: undefined },
        { variable: 'BROWSER_ENGINE_PATH', path: undefined },
      ],
      servo: [
        { variable: 'BROWSER_SERVO_ENGINE', path: undefined },
        { variable: 'BROWSER_ENGINE_PATH', path: undefined },
      ],
    },
    bakedFile: join(folder, 'output', 'baked-browser.json'),
    systemBrowsers: {
      chrome: ['google-chrome', join(folder, 'opt', 'chrome')],
      chromium: ['chromium', 'chromium-browser'],
      edge: ['microsoft-edge'],
    },
    searchPath: [join(folder, 'first'), join(folder, 'second')].join(':'),
    os: 'linux',
    architecture: 'x64',
    cache: join(folder, 'cache'),
    libraryFolder: join(folder, 'output', 'lib'),
    shippedFolders: [join(folder, 'output', 'lib')],
    chromeVersion: '155.0.8059.39',
    chromeMirror: 'http://127.0.0.1:9',
    chromeSha256: undefined,
    chromeChecksums: {},
    downloadProxy: undefined,
    downloadTimeoutMs: 10_000,
    skipBrowserFetch: false,
    ...changes,
  };
  return {
    folder,
    config,
    async program(path) {
      const whole = join(folder, path);
      await mkdir(dirname(whole), { recursive: true });
      await writeFile(whole, '#!/bin/sh\n');
      await chmod(whole, 0o755);
      return whole;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
