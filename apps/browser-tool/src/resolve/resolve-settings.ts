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

/** How a browser is found, and fetched where there is none. */
export const resolveSettings = {
  backend: setting('BROWSER_BACKEND', withDefault(text(), 'auto'), {
    description: `Which browser is driven: one of ${BACKENDS.join(', ')}.`,
    defaultText: 'auto',
  }),
  chromePath: path('CHROME_PATH', 'The executable of Chrome, instead of searching for it.'),
  chromePathAlias: path('BROWSER_CHROME_PATH', 'Another name of CHROME_PATH.'),
  chromiumPath: path('CHROMIUM_PATH', 'The executable of Chromium, instead of searching for it.'),
  chromiumPathAlias: path('BROWSER_CHROMIUM_PATH', 'Another name of CHROMIUM_PATH.'),
  edgePath: path('EDGE_PATH', 'The executable of Edge, instead of searching for it.'),
  edgePathAlias: path('BROWSER_EDGE_PATH', 'Another name of EDGE_PATH.'),
  firefoxEngine: path('BROWSER_FIREFOX_ENGINE', 'The library of the firefox engine.'),
  servoEngine: path('BROWSER_SERVO_ENGINE', 'The library of the servo engine.'),
  enginePath: path(
    'BROWSER_ENGINE_PATH',
    'The library of whichever of the two engines is chosen, where its own variable is unset.',
  ),
  chromeVersion: setting('BROWSER_CHROME_VERSION', withDefault(version, CHROME_VERSION_PINNED), {
    description: 'The build of Chrome for Testing that is downloaded.',
    defaultText: CHROME_VERSION_PINNED,
  }),
  chromeMirror: setting(
    'BROWSER_CHROME_MIRROR',
    withDefault(urlWith('http', 'https'), CHROME_MIRROR_DEFAULT),
    {
      description: 'Where builds are downloaded from.',
      defaultText: CHROME_MIRROR_DEFAULT,
      // It may carry a password.
      secret: true,
    },
  ),
  chromeSha256: setting('BROWSER_CHROME_SHA256', optional(sha256), {
    description: 'The SHA-256 that the downloaded archive must have, in hexadecimal digits.',
    defaultText: 'not checked',
  }),
  downloadProxy: setting('BROWSER_DOWNLOAD_PROXY', optional(urlWith('http', 'https', 'socks5')), {
    description:
      'The proxy that downloads go through and, under `mcp`, what the pages load: http://, https:// or socks5://.',
    defaultText: 'none',
    secret: true,
  }),
  downloadTimeoutSecs: setting(
    'BROWSER_DOWNLOAD_TIMEOUT_SECS',
    withDefault(integer(1, TIMEOUT_SECS_MAX), TIMEOUT_SECS_DEFAULT),
    {
      description: 'How long one of the three tries of a download may take.',
      defaultText: String(TIMEOUT_SECS_DEFAULT),
    },
  ),
  skipBrowserFetch: setting('BROWSER_SKIP_BROWSER_FETCH', withDefault(flag(), false), {
    description: 'Whether to download nothing, neither in the build nor later.',
    defaultText: '0',
  }),
  autoFetch: setting('BROWSER_AUTO_FETCH', withDefault(flag(), false), {
    description:
      'Whether the build downloads a browser and writes its path beside the build output.',
    defaultText: '0',
  }),
};
