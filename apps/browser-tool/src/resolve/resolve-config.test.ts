import { loadConfig, type Environment } from '@model-gateway/kernel';
import { CHROME_VERSION_PINNED, PLATFORMS } from './chrome-build.ts';
import { CHROME_CHECKSUMS } from './chrome-checksums.ts';
import { resolveConfigFrom } from './resolve-config.ts';
import { resolveSettings } from './resolve-settings.ts';

const linux = { os: 'linux', architecture: 'x64', home: '/root', executable: '/usr/bin/node' };

const read = (environment: Environment, machine = linux) =>
  resolveConfigFrom(loadConfig(resolveSettings, environment), environment, machine);

test('with nothing set, everything is searched for and the pinned build comes from its publisher', () => {
  const config = read({ PATH: '/usr/bin' });
  expect(config).toMatchObject({
    backend: 'auto',
    searchPath: '/usr/bin',
    cache: '/root/.cache/browser-tool',
    chromeMirror: 'https://storage.googleapis.com/chrome-for-testing-public',
    chromeSha256: undefined,
    chromeChecksums: CHROME_CHECKSUMS,
    downloadProxy: undefined,
    downloadTimeoutMs: 600_000,
    skipBrowserFetch: false,
  });
  const [major = 0, , build = 0] = config.chromeVersion.split('.').map(Number);
  // The first with builds for linux-arm64 is 153.0.8001.0.
  expect(major > 153 || (major === 153 && build >= 8001)).toBe(true);
  expect(
    Object.values(config.overrides)
      .flat()
      .every(({ path }) => path === undefined),
  ).toBe(true);
});

test('every platform has a checksum of the pinned build', () => {
  const builds = new Set(
    Object.values(PLATFORMS).map((platform) => `${CHROME_VERSION_PINNED}/${platform}`),
  );
  expect(Object.keys(CHROME_CHECKSUMS).toSorted()).toEqual([...builds].toSorted());
  const checksums = Object.values(CHROME_CHECKSUMS);
  expect(checksums.filter((checksum) => !/^[0-9a-f]{64}$/.test(checksum))).toEqual([]);
  expect(new Set(checksums).size).toBe(checksums.length);
});

test.each([
  { mirror: 'https://mirror.example.com/chrome', checksums: CHROME_CHECKSUMS },
  { mirror: 'http://127.0.0.1.example.com', checksums: CHROME_CHECKSUMS },
  { mirror: 'http://127.0.0.1:8000', checksums: {} },
  { mirror: 'http://localhost:8000/chrome', checksums: {} },
  { mirror: 'http://[::1]:8000', checksums: {} },
])('the shipped checksums and the mirror $mirror', ({ mirror, checksums }) => {
  expect(read({ BROWSER_CHROME_MIRROR: mirror }).chromeChecksums).toEqual(checksums);
});

test.each([
  { backend: 'chrome', names: ['CHROME_PATH', 'BROWSER_CHROME_PATH'] },
  { backend: 'chromium', names: ['CHROMIUM_PATH', 'BROWSER_CHROMIUM_PATH'] },
  { backend: 'edge', names: ['EDGE_PATH', 'BROWSER_EDGE_PATH'] },
  { backend: 'firefox', names: ['BROWSER_FIREFOX_ENGINE', 'BROWSER_ENGINE_PATH'] },
  { backend: 'servo', names: ['BROWSER_SERVO_ENGINE', 'BROWSER_ENGINE_PATH'] },
] as const)('$backend is named by two variables', ({ backend, names }) => {
  const environment = Object.fromEntries(names.map((name) => [name, `/opt/${name}`]));
  expect(read(environment).overrides[backend]).toEqual(
    names.map((variable) => ({ variable, path: `/opt/${variable}` })),
  );
});

test('relative paths start from where the tool was called', () => {
  const { overrides } = read({ CHROME_PATH: 'bin/chrome', INIT_CWD: '/project' });
  expect(overrides.chrome[0]).toEqual({ variable: 'CHROME_PATH', path: '/project/bin/chrome' });
});

test.each([
  { os: 'linux', environment: {}, cache: '/root/.cache/browser-tool' },
  { os: 'linux', environment: { XDG_CACHE_HOME: '/c' }, cache: '/c/browser-tool' },
  { os: 'darwin', environment: {}, cache: '/root/Library/Caches/browser-tool' },
  { os: 'win32', environment: { LOCALAPPDATA: '/local' }, cache: '/local/browser-tool' },
])('on $os with $environment the cache is $cache', ({ os, environment, cache }) => {
  expect(read(environment, { ...linux, os }).cache).toBe(cache);
});

test('each system has its own places', () => {
  expect(read({}).systemBrowsers.chromium).toEqual([
    'chromium',
    'chromium-browser',
    '/usr/lib/chromium/chromium',
    '/snap/bin/chromium',
    'chromium-headless-shell',
  ]);
  expect(read({}, { ...linux, os: 'darwin' }).systemBrowsers.chrome[0]).toBe(
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  );
  expect(
    read({ ProgramFiles: 'C:\\Programs' }, { ...linux, os: 'win32' }).systemBrowsers.edge,
  ).toEqual(['msedge.exe', 'C:\\Programs\\Microsoft\\Edge\\Application\\msedge.exe']);
});

test.each([
  { why: 'a version with a path in it', environment: { BROWSER_CHROME_VERSION: '1.2.3.4/../x' } },
  { why: 'a mirror that is no web address', environment: { BROWSER_CHROME_MIRROR: 'file:///x' } },
  { why: 'a checksum of another length', environment: { BROWSER_CHROME_SHA256: 'ab' } },
  { why: 'a proxy of another kind', environment: { BROWSER_DOWNLOAD_PROXY: 'socks4://x' } },
  { why: 'no time at all', environment: { BROWSER_DOWNLOAD_TIMEOUT_SECS: '0' } },
])('$why is refused at the start', ({ environment }) => {
  const [name = ''] = Object.keys(environment);
  expect(() => read(environment)).toThrow(name);
});
