import { createHash } from 'node:crypto';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fullTable } from '@model-gateway/testkit';
import { chromeBuild } from '../../src/resolve/chrome-build.ts';
import { copyBuild, type BuildCopy } from './build-copy.ts';
import { makeCertificate } from './certificate.ts';
import { startMirror, type Mirror } from './mirror.ts';
import { startHttpProxy, startSocksProxy, type Proxy } from './proxies.ts';
import { makeBrowserZip } from './zip.ts';

// Some binary that needs only libraries of the system.
const BINARY = '/bin/sh';
const VERSION = '155.0.8059.39';
const { platform } = chromeBuild({
  version: VERSION,
  mirror: '',
  os: process.platform,
  architecture: process.arch,
});
const archive = makeBrowserZip(platform, VERSION);
const certificate = makeCertificate();
const path = `/${VERSION}/${platform}/chrome-headless-shell-${platform}.zip`;
const knownName = 'mirror.test';

let build: BuildCopy;
let mirror: Mirror;
let secure: Mirror;
let proxy: Proxy | undefined;
let environment: Readonly<Record<string, string>>;

beforeEach(async () => {
  build = await copyBuild();
  mirror = await startMirror(archive);
  secure = await startMirror(archive, certificate);
  const authority = join(build.output, 'authority.pem');
  await writeFile(authority, certificate.certificate);
  environment = {
    BROWSER_AUTO_FETCH: '1',
    BROWSER_CHROME_MIRROR: mirror.url,
    XDG_CACHE_HOME: join(build.output, 'cache'),
    NODE_EXTRA_CA_CERTS: authority,
  };
});

afterEach(async () => {
  await proxy?.close();
  proxy = undefined;
  await mirror.close();
  await secure.close();
  await build.remove();
});

const browsers = () =>
  join(build.output, 'cache', 'browser-tool', 'browsers', 'chrome-headless-shell', VERSION);
const executable = () =>
  join(browsers(), platform, `chrome-headless-shell-${platform}`, 'chrome-headless-shell');

test('a build with auto-fetch writes the path beside its output, and the tool starts with it', async () => {
  const ended = await build.finishBuild(environment);
  expect(ended).toEqual({
    status: 0,
    stdout: `The browser of this build is ${executable()}.\n`,
    stderr: '',
  });
  const baked = await readFile(join(build.output, 'baked-browser.json'), 'utf8');
  expect(JSON.parse(baked)).toEqual({ executable: executable(), version: VERSION });
  const report = await build.run(['bundle', '--json'], {});
  expect(JSON.parse(report.stdout)).toMatchObject({ executable: executable() });
});

test('builds that run at once share one download', async () => {
  const ended = await Promise.all([1, 2].map(() => build.finishBuild(environment)));
  expect(ended.map(({ status }) => status)).toEqual([0, 0]);
  expect(mirror.requests).toEqual([path]);
  expect(await readdir(browsers())).toEqual([platform]);
});

test('a build that is killed in the middle leaves nothing that the next one trips over', async () => {
  let seen = (): void => undefined;
  const began = new Promise<void>((resolve) => {
    seen = resolve;
  });
  mirror.answer((response) => {
    response.writeHead(200, { 'content-length': archive.length });
    response.write(archive.subarray(0, 10));
    seen();
  });
  const killing = new AbortController();
  const first = build.finishBuild(environment, killing.signal);
  await began;
  killing.abort();
  expect(await first).toMatchObject({ status: -1 });
  mirror.answer((response) => response.end(archive));
  expect(await build.finishBuild(environment)).toMatchObject({ status: 0 });
  expect(await readdir(browsers())).toEqual([platform]);
});

test('a mirror with TLS is requested directly', async () => {
  const ended = await build.finishBuild({ ...environment, BROWSER_CHROME_MIRROR: secure.url });
  expect(ended).toMatchObject({ status: 0 });
  expect(secure.requests).toEqual([path]);
});

const proxies = [
  { kind: 'https', seen: 'CONNECT', start: () => startHttpProxy({ knownName, certificate }) },
  { kind: 'socks5', seen: 'SOCKS', start: () => startSocksProxy({ knownName }) },
  { kind: 'http', seen: 'CONNECT', start: () => startHttpProxy({ knownName }) },
];

test.each(fullTable(proxies, { small: 1 }))(
  'a mirror with TLS is reached through an $kind proxy',
  async ({ kind, seen, start }) => {
    proxy = await start();
    const ended = await build.finishBuild({
      ...environment,
      BROWSER_CHROME_MIRROR: `https://${knownName}:${secure.port}`,
      BROWSER_DOWNLOAD_PROXY: `${kind}://ann:secret@127.0.0.1:${proxy.port}`,
      BROWSER_CHROME_SHA256: createHash('sha256').update(archive).digest('hex'),
    });
    expect(ended).toMatchObject({ status: 0 });
    expect(proxy.seen).toEqual([`${seen} ${knownName}:${secure.port} ann:secret`]);
    expect(secure.requests).toEqual([path]);
  },
);

test('a mirror with an untrusted certificate is refused', async () => {
  const ended = await build.finishBuild({
    ...environment,
    BROWSER_CHROME_MIRROR: secure.url,
    NODE_EXTRA_CA_CERTS: '',
  });
  expect(ended.status).toBe(1);
  expect(ended.stderr).toMatch(/DOWNLOAD_FAILED: .*self-signed certificate/);
});

test('the skip variable keeps the build from downloading', async () => {
  const ended = await build.finishBuild({ ...environment, BROWSER_SKIP_BROWSER_FETCH: '1' });
  expect(ended).toMatchObject({
    status: 0,
    stdout: 'No browser was downloaded, because BROWSER_SKIP_BROWSER_FETCH is set.\n',
  });
  expect(mirror.requests).toEqual([]);
});

test('invalid settings are reported together', async () => {
  const ended = await build.finishBuild({
    BROWSER_CHROME_VERSION: '../../etc',
    BROWSER_CHROME_SHA256: 'abc',
    BROWSER_DOWNLOAD_PROXY: 'ftp://a:secret@b',
    BROWSER_DOWNLOAD_TIMEOUT_SECS: '0',
  });
  expect(ended.status).toBe(1);
  expect(ended.stderr).toMatch(
    /BROWSER_CHROME_VERSION must be .*BROWSER_CHROME_SHA256 must be .*BROWSER_DOWNLOAD_PROXY must be .*socks5:\/\/.*BROWSER_DOWNLOAD_TIMEOUT_SECS must be/,
  );
  expect(ended.stderr).not.toContain('secret');
});

test('libraries to ship come along, and engines among them are found', async () => {
  const library = join(build.output, 'libbrowser_engine_servo.so.built');
  await copyFile(BINARY, library);
  const manifest = join(build.output, 'bundle.toml');
  await writeFile(
    manifest,
    '[[lib]]\npath = "libbrowser_engine_servo.so"\n[[lib]]\npath = "gone.so"\noptional = true\n',
  );
  await copyFile(BINARY, join(build.output, 'libbrowser_engine_servo.so'));
  const ended = await build.finishBuild({
    BROWSER_BUNDLE_MANIFEST: manifest,
    BROWSER_BUNDLE_LIBS: library,
  });
  expect(ended).toMatchObject({ status: 0 });
  expect((await readdir(join(build.output, 'lib'))).toSorted()).toEqual([
    'libbrowser_engine_servo.so',
    'libbrowser_engine_servo.so.built',
  ]);
  const report = await build.run(['bundle', '--json'], { BROWSER_BACKEND: 'servo' });
  expect(JSON.parse(report.stdout)).toMatchObject({
    executable: join(build.output, 'lib', 'libbrowser_engine_servo.so'),
    complete: true,
  });
  const missing = await build.finishBuild({ BROWSER_BUNDLE_LIBS: '/nowhere/libx.so' });
  expect(missing).toMatchObject({
    status: 1,
    stderr:
      'browser-tool: the build failed: libraries to ship not found: /nowhere/libx.so (BROWSER_BUNDLE_LIBS)\n',
  });
});
