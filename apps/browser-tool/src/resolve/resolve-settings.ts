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
import { BACKENDS } from './backend.ts';
import { CHROME_MIRROR_DEFAULT, CHROME_VERSION_PINNED } from './chrome-build.ts';

const TIMEOUT_SECS_DEFAULT = 600;
const TIMEOUT_SECS_MAX = 86_400;

const path = (env: string, description: string) => setting(env, optional(text()), { description });

const version = z
  .string()
  .regex(/^\d+(\.\d+){3}$/, 'a version of four numbers, such as 158.0.8127.18');
const sha256 = z.string().regex(/^[0-9a-fA-F]{64}$/, '64 hexadecimal digits');

/** How a browser is found, and fetched where there is none. */
export const resolveSettings = {
  backend: setting('BROWSER_BACKEND', withDefault(text(), 'auto'), {
    description: `Which browser is driven: one of ${BACKENDS.join(', ')}.`,
  }),
  chromePath: path('CHROME_PATH', 'The executable of Chrome; the search is left out.'),
  chromePathAlias: path('BROWSER_CHROME_PATH', 'Another name of CHROME_PATH.'),
  chromiumPath: path('CHROMIUM_PATH', 'The executable of Chromium; the search is left out.'),
  chromiumPathAlias: path('BROWSER_CHROMIUM_PATH', 'Another name of CHROMIUM_PATH.'),
  edgePath: path('EDGE_PATH', 'The executable of Edge; the search is left out.'),
  edgePathAlias: path('BROWSER_EDGE_PATH', 'Another name of EDGE_PATH.'),
  firefoxEngine: path('BROWSER_FIREFOX_ENGINE', 'The library of the firefox engine.'),
  servoEngine: path('BROWSER_SERVO_ENGINE', 'The library of the servo engine.'),
  enginePath: path(
    'BROWSER_ENGINE_PATH',
    'The library of whichever of the two engines is chosen, where its own variable is unset.',
  ),
  chromeVersion: setting('BROWSER_CHROME_VERSION', withDefault(version, CHROME_VERSION_PINNED), {
    description: 'The build of Chrome for Testing that is downloaded.',
  }),
  chromeMirror: setting(
    'BROWSER_CHROME_MIRROR',
    withDefault(urlWith('http', 'https'), CHROME_MIRROR_DEFAULT),
    { description: 'Where builds are downloaded from.', secret: true },
  ),
  chromeSha256: setting('BROWSER_CHROME_SHA256', optional(sha256), {
    description: 'The SHA-256 that the downloaded archive must have; unset checks nothing.',
  }),
  downloadProxy: setting('BROWSER_DOWNLOAD_PROXY', optional(urlWith('http', 'https', 'socks5')), {
    description:
      'The proxy that downloads go through and, under `mcp`, the pages of the browser; may carry a user and a password.',
    secret: true,
  }),
  downloadTimeoutSecs: setting(
    'BROWSER_DOWNLOAD_TIMEOUT_SECS',
    withDefault(integer(1, TIMEOUT_SECS_MAX), TIMEOUT_SECS_DEFAULT),
    { description: 'How long one try of a download may take, in seconds.' },
  ),
  skipBrowserFetch: setting('BROWSER_SKIP_BROWSER_FETCH', withDefault(flag(), false), {
    description: 'Nothing is downloaded, neither by the build nor at run time.',
  }),
  autoFetch: setting('BROWSER_AUTO_FETCH', withDefault(flag(), false), {
    description: 'The build downloads the browser and writes its path beside the build output.',
  }),
};
