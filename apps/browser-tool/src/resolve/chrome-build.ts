import { join } from 'node:path';
import { ToolError } from '../errors.ts';

/** The build that is downloaded unless `BROWSER_CHROME_VERSION` names another; chrome-checksums.ts has its archives. */
export const CHROME_VERSION_PINNED = '155.0.8059.39';
/** Where Chrome for Testing publishes its builds. */
export const CHROME_MIRROR_DEFAULT = 'https://storage.googleapis.com/chrome-for-testing-public';
// The first version with builds for this platform.
const LINUX_ARM64_FIRST = '153.0.8001.0';
const FLAVOR = 'chrome-headless-shell';

/** The platforms of the pinned build by system and architecture. */
export const PLATFORMS: Readonly<Record<string, string>> = {
  'linux x64': 'linux64',
  'linux arm64': 'linux-arm64',
  'darwin x64': 'mac-x64',
  'darwin arm64': 'mac-arm64',
  'win32 x64': 'win64',
  // Windows on arm64 runs the x64 build.
  'win32 arm64': 'win64',
};

/** One published build of the browser for one platform: its URL and its place in the cache. */
export interface ChromeBuild {
  readonly version: string;
  readonly platform: string;
  readonly url: string;
  /** Its folder below the cache of browsers. */
  readonly folder: string;
  /** The executable below that folder. */
  readonly executable: string;
}

interface BuildRequest {
  readonly version: string;
  readonly mirror: string;
  readonly os: string;
  readonly architecture: string;
}

/** The build for a machine. */
export function chromeBuild({ version, mirror, os, architecture }: BuildRequest): ChromeBuild {
  const platform = PLATFORMS[`${os} ${architecture}`];
  if (platform === undefined) {
    throw unsupported(`Chrome for Testing has no build for ${os} ${architecture}`);
  }
  if (platform === 'linux-arm64' && isOlder(version, LINUX_ARM64_FIRST)) {
    throw unsupported(
      `Chrome for Testing ${version} has no build for linux-arm64, the first is ${LINUX_ARM64_FIRST}`,
    );
  }
  const name = `${FLAVOR}-${platform}`;
  return {
    version,
    platform,
    url: `${mirror.replace(/\/+$/, '')}/${version}/${platform}/${name}.zip`,
    folder: join(FLAVOR, version, platform),
    executable: join(name, os === 'win32' ? `${FLAVOR}.exe` : FLAVOR),
  };
}

function unsupported(reason: string): ToolError {
  return new ToolError('UNSUPPORTED_PLATFORM', `${reason}.`, {
    hint: 'Install a browser and set CHROMIUM_PATH to it.',
  });
}

function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}
