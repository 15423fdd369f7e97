import {
  flag,
  integer,
  optional,
  setting,
  text,
  urlWith,
  withDefault,
} from '@model-gateway/kernel';
import { z } from 'zod';
import { BACKENDS } from './browser-backend.ts';
import { CHROME_MIRROR_DEFAULT, CHROME_VERSION_PINNED } from './chrome-build.ts';

const TIMEOUT_SECS_DEFAULT = 600;
const TIMEOUT_SECS_MAX = 86_400;

const version = z
  .string()
  .regex(/^\d+(\.\d+){3}$/, `a version of four numbers, such as ${CHROME_VERSION_PINNED}`);
const sha256 = z.string().regex(/^[0-9a-fA-F]{64}$/, '64 hexadecimal digits');

const path = (env: string, description: string, defaultText = 'unset') =>
  setting(env, optional(text()), { description, defaultText });

/** The settings for finding and downloading a browser. */
export const resolveSettings = {
  backend: setting('BROWSER_BACKEND', withDefault(text(), 'auto'), {
    description: `The browser to use: one of ${BACKENDS.join(', ')}.`,
  }),
  chromePath: path('CHROME_PATH', 'The executable of Chrome; if unset, the tool searches for it.'),
  chromePathAlias: path('BROWSER_CHROME_PATH', 'An alias of CHROME_PATH.'),
  chromiumPath: path(
    'CHROMIUM_PATH',
    'The executable of Chromium; if unset, the tool searches for it.',
  ),
  chromiumPathAlias: path('BROWSER_CHROMIUM_PATH', 'An alias of CHROMIUM_PATH.'),
  edgePath: path('EDGE_PATH', 'The executable of Edge; if unset, the tool searches for it.'),
  edgePathAlias: path('BROWSER_EDGE_PATH', 'An alias of EDGE_PATH.'),
  firefoxEngine: path('BROWSER_FIREFOX_ENGINE', 'The library of the firefox engine.'),
  servoEngine: path('BROWSER_SERVO_ENGINE', 'The library of the servo engine.'),
  enginePath: path(
    'BROWSER_ENGINE_PATH',
    'The library of the chosen engine, if its own variable is unset.',
  ),
  chromeVersion: setting('BROWSER_CHROME_VERSION', withDefault(version, CHROME_VERSION_PINNED), {
    description: 'The version of Chrome for Testing to download.',
  }),
  chromeMirror: setting(
    'BROWSER_CHROME_MIRROR',
    withDefault(urlWith('http', 'https'), CHROME_MIRROR_DEFAULT),
    {
      description: 'The URL that builds are downloaded from.',
      // It may contain a password.
      secret: true,
    },
  ),
  chromeSha256: setting('BROWSER_CHROME_SHA256', optional(sha256), {
    description: 'The expected SHA-256 of the downloaded archive, in hexadecimal digits.',
    defaultText: 'not checked',
  }),
  downloadProxy: setting('BROWSER_DOWNLOAD_PROXY', optional(urlWith('http', 'https', 'socks5')), {
    description:
      'The proxy for downloads and, with `mcp`, for pages: http://, https:// or socks5://.',
    defaultText: 'none',
    secret: true,
  }),
  downloadTimeoutSecs: setting(
    'BROWSER_DOWNLOAD_TIMEOUT_SECS',
    withDefault(integer(1, TIMEOUT_SECS_MAX), TIMEOUT_SECS_DEFAULT),
    {
      description: 'The time limit for each of the three attempts of a download, in seconds.',
    },
  ),
  skipBrowserFetch: setting('BROWSER_SKIP_BROWSER_FETCH', withDefault(flag(), false), {
    description: 'Whether downloads are disabled, both in the build and later.',
    defaultText: '0',
  }),
  autoFetch: setting('BROWSER_AUTO_FETCH', withDefault(flag(), false), {
    description:
      'Whether the build downloads a browser and writes its path beside the build output.',
    defaultText: '0',
  }),
};

/** The settings that are the path of a browser or of an engine's library. */
export type PathSetting =
  | `${'chrome' | 'chromium' | 'edge'}Path${'' | 'Alias'}`
  | 'firefoxEngine'
  | 'servoEngine'
  | 'enginePath';
