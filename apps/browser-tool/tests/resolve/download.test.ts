import { createHash } from 'node:crypto';
import { access, mkdir, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '@model-gateway/kernel';
import { fetchBrowser, resolveBrowser, type ResolveConfig } from '../../src/resolve/index.ts';
import { startMirror, type Mirror } from './mirror.ts';
import { createResolveScene, type ResolveScene } from './resolve-scene.ts';
import { makeBrowserZip, makeZip } from './zip.ts';

const VERSION = '155.0.8059.39';
const archive = makeBrowserZip('linux64', VERSION);
const checksum = createHash('sha256').update(archive).digest('hex');

let mirror: Mirror;
let scene: ResolveScene;

beforeEach(async () => {
  mirror = await startMirror(archive);
  scene = await createResolveScene({ chromeMirror: mirror.url });
});

afterEach(async () => {
  await mirror.close();
  await scene.remove();
});

const fetch = (changes: Partial<ResolveConfig> = {}) =>
  fetchBrowser({ ...scene.config, ...changes }, silentLog);
const home = () => join(scene.config.cache, 'browsers', 'chrome-headless-shell', VERSION);

/** What lies in the cache besides a whole installation. */
async function leftovers(): Promise<readonly string[]> {
  const names = await readdir(home()).catch(() => []);
  return names.filter((name) => name !== 'linux64');
}

test('a machine without a browser gets the pinned build, once', async () => {
  const found = await resolveBrowser(scene.config, silentLog);
  expect(found).toEqual({
    kind: 'cdp',
    backend: 'chrome',
    executable: join(home(), 'linux64', 'chrome-headless-shell-linux64', 'chrome-headless-shell'),
    resolvedBy: 'download',
  });
  expect(await resolveBrowser(scene.config, silentLog)).toEqual(found);
  expect(mirror.requests).toEqual([`/${VERSION}/linux64/chrome-headless-shell-linux64.zip`]);
  expect(await leftovers()).toEqual([]);
});

test('chromium is downloaded too, and every platform has a folder of its own', async () => {
  mirror.answer((response) => response.end(makeBrowserZip('linux-arm64', VERSION)));
  const found = await resolveBrowser(
    { ...scene.config, backend: 'chromium', architecture: 'arm64' },
    silentLog,
  );
  expect(found).toMatchObject({ backend: 'chromium', resolvedBy: 'download' });
  expect(mirror.requests).toEqual([
    `/${VERSION}/linux-arm64/chrome-headless-shell-linux-arm64.zip`,
  ]);
});

test('the mirror may lie below a path, and another version is another build', async () => {
  await fetch({ chromeMirror: `${mirror.url}/a/b/`, chromeVersion: '160.0.9000.1' });
  expect(mirror.requests).toEqual(['/a/b/160.0.9000.1/linux64/chrome-headless-shell-linux64.zip']);
});

test('a failure that may pass is tried three times in all', async () => {
  mirror.answer((response) => response.writeHead(503).end());
  await expect(fetch()).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringMatching(/\(tried 3 times\): the server responded with HTTP 503\.$/),
    details: { tries: 3 },
  });
  expect(mirror.requests).toHaveLength(3);
  expect(await leftovers()).toEqual([]);
});

test('an interrupted download is restarted', async () => {
  mirror.answer((response) => {
    response.writeHead(200, { 'content-length': archive.length });
    response.write(archive.subarray(0, 20), () => response.destroy());
    mirror.answer((next) => next.end(archive));
  });
  await expect(fetch()).resolves.toContain('chrome-headless-shell');
  expect(mirror.requests).toHaveLength(2);
});

test('a version that is not published is not requested again', async () => {
  mirror.answer((response) => response.writeHead(404).end());
  await expect(fetch()).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringMatching(/\(tried once\): the server responded with HTTP 404\.$/),
  });
  expect(mirror.requests).toHaveLength(1);
});

test('each try has its time-out, also in the middle of the body', async () => {
  mirror.answer((response) => response.write(archive.subarray(0, 20)));
  await expect(fetch({ downloadTimeoutMs: 200 })).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringContaining('it took longer than 0.2 s (BROWSER_DOWNLOAD_TIMEOUT_SECS)'),
  });
  expect(mirror.requests).toHaveLength(3);
  expect(await leftovers()).toEqual([]);
});

test('a checksum that fits lets the build in, in small or capital letters', async () => {
  await expect(fetch({ chromeSha256: checksum.toUpperCase() })).resolves.toContain('linux64');
  await expect(fetch({ chromeSha256: checksum })).resolves.toContain('linux64');
  expect(mirror.requests).toHaveLength(1);
});

test('a checksum that does not fit installs nothing and is not tried again', async () => {
  const wrong = '0'.repeat(64);
  await expect(fetch({ chromeSha256: wrong })).rejects.toMatchObject({
    code: 'CHECKSUM_MISMATCH',
    message: expect.stringContaining(
      `has the SHA-256 ${checksum}, but BROWSER_CHROME_SHA256 is ${wrong}`,
    ),
    details: { expected: wrong, actual: checksum },
  });
  expect(mirror.requests).toHaveLength(1);
  await expect(access(join(home(), 'linux64'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a checksum that was shipped for a build is checked, unless another is set', async () => {
  const shipped = { [`${VERSION}/linux64`]: '0'.repeat(64) };
  await expect(fetch({ chromeChecksums: shipped })).rejects.toMatchObject({
    code: 'CHECKSUM_MISMATCH',
    message: expect.stringContaining(`but the checksum of this release is ${'0'.repeat(64)}`),
  });
  await expect(access(join(home(), 'linux64'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(fetch({ chromeChecksums: shipped, chromeSha256: checksum })).resolves.toContain(
    'linux64',
  );
  await expect(fetch({ chromeChecksums: { [`${VERSION}/linux64`]: checksum } })).resolves.toContain(
    'linux64',
  );
  expect(mirror.requests).toHaveLength(2);
});

test('a checksum that is demanded later does not trust what came without it', async () => {
  await fetch();
  await expect(fetch({ chromeSha256: '0'.repeat(64) })).rejects.toMatchObject({
    code: 'CHECKSUM_MISMATCH',
  });
  await expect(fetch({ chromeSha256: checksum })).resolves.toContain('linux64');
});

test('a damaged installation is replaced', async () => {
  const executable = await fetch();
  const { size } = await stat(executable);
  await truncate(executable, 3);
  expect(await fetch()).toBe(executable);
  expect((await stat(executable)).size).toBe(size);
  await rm(executable);
  expect(await fetch()).toBe(executable);
  expect(mirror.requests).toHaveLength(3);
  expect(await leftovers()).toEqual([]);
});

test.each([
  {
    why: 'a page of a captive portal',
    body: Buffer.from('<html>Log in</html>'),
    text: /end of central directory/i,
  },
  {
    why: 'an archive that is cut off',
    body: archive.subarray(0, archive.length - 30),
    text: /end of central directory/i,
  },
  {
    why: 'an archive of something else',
    body: makeZip([{ name: 'readme.txt' }]),
    text: /contains no executable chrome-headless-shell-linux64/,
  },
])('$why is not installed', async ({ body, text }) => {
  mirror.answer((response) => response.end(body));
  await expect(fetch()).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringMatching(text),
  });
  expect(await leftovers()).toEqual([]);
});

test('the skip variable stops downloads, not what was downloaded before', async () => {
  const skipping = { ...scene.config, skipBrowserFetch: true };
  await expect(resolveBrowser(skipping, silentLog)).rejects.toMatchObject({
    code: 'BROWSER_NOT_FOUND',
  });
  const executable = await fetch();
  expect(await resolveBrowser(skipping, silentLog)).toMatchObject({
    executable,
    resolvedBy: 'download',
  });
  expect(await fetch(skipping)).toBe(executable);
  await expect(resolveBrowser({ ...skipping, backend: 'edge' }, silentLog)).rejects.toMatchObject({
    code: 'BROWSER_NOT_FOUND',
  });
  await truncate(executable, 1);
  await expect(resolveBrowser(skipping, silentLog)).rejects.toMatchObject({
    code: 'BROWSER_NOT_FOUND',
  });
  expect(mirror.requests).toHaveLength(1);
});

test('the skip variable stops the build from downloading', async () => {
  await expect(fetch({ skipBrowserFetch: true })).rejects.toMatchObject({
    code: 'FETCH_DISABLED',
    message: expect.stringContaining('BROWSER_SKIP_BROWSER_FETCH'),
  });
  expect(mirror.requests).toEqual([]);
});

test.each([
  { os: 'linux', architecture: 'riscv64', text: 'no build for linux riscv64' },
  { os: 'linux', architecture: 'arm64', text: 'the first is 153.0.8001.0' },
])(
  '$os $architecture of an old version is reported as unsupported',
  async ({ text, ...machine }) => {
    await expect(fetch({ ...machine, chromeVersion: '152.0.9999.9' })).rejects.toMatchObject({
      code: 'UNSUPPORTED_PLATFORM',
      message: expect.stringContaining(text),
    });
  },
);

test('a folder that cannot be written is reported', async () => {
  const file = join(scene.folder, 'file');
  await writeFile(file, '');
  await expect(fetch({ cache: join(file, 'cache') })).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringContaining('could not be installed in'),
  });
});

test('many at once in one process download once', async () => {
  const found = await Promise.all(Array.from({ length: 5 }, () => fetch()));
  expect(new Set(found).size).toBe(1);
  expect(mirror.requests).toHaveLength(1);
});

test('the lock of a process that was killed does not block, and its files are removed', async () => {
  const lock = join(home(), 'linux64.lock');
  await mkdir(join(lock, 'content'), { recursive: true });
  await writeFile(join(lock, 'archive.zip'), 'half');
  await utimes(lock, new Date(0), new Date(0));
  await expect(fetch()).resolves.toContain('linux64');
  expect(await leftovers()).toEqual([]);
});

test('a lock that another process touches is waited for', async () => {
  await mkdir(join(home(), 'linux64.lock'), { recursive: true });
  await expect(fetch({ downloadTimeoutMs: 50 })).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringContaining('linux64.lock for too long'),
  });
});

test('an aborted download ends at once and leaves nothing', async () => {
  const leaving = new AbortController();
  mirror.answer((response) => {
    response.write(archive.subarray(0, 20));
    leaving.abort(new Error('the tool is ending'));
  });
  await expect(fetchBrowser(scene.config, silentLog, leaving.signal)).rejects.toThrow(
    'the tool is ending',
  );
  expect(mirror.requests).toHaveLength(1);
  expect(await leftovers()).toEqual([]);
});
