import { silentLog } from '@model-gateway/kernel';
import { fetchBrowser } from '../../src/resolve/index.ts';
import { startMirror, type Mirror } from './mirror.ts';
import { startHttpProxy, startSocksProxy, type Proxy } from './proxies.ts';
import { createResolveScene, type ResolveScene } from './resolve-scene.ts';
import { makeBrowserZip } from './zip.ts';

const VERSION = '155.0.8059.39';
const path = `/${VERSION}/linux64/chrome-headless-shell-linux64.zip`;
// A name that only the proxy can look up shows that the machine itself does not try.
const knownName = 'mirror.test';

let mirror: Mirror;
let scene: ResolveScene;
let proxy: Proxy | undefined;

beforeEach(async () => {
  mirror = await startMirror(makeBrowserZip('linux64', VERSION));
  scene = await createResolveScene();
});

afterEach(async () => {
  await proxy?.close();
  await mirror.close();
  await scene.remove();
});

const fetch = (downloadProxy: string) =>
  fetchBrowser(
    { ...scene.config, chromeMirror: `http://${knownName}:${mirror.port}`, downloadProxy },
    silentLog,
  );

test('an http proxy gets the whole URL of a plain mirror, with its password', async () => {
  proxy = await startHttpProxy({ knownName });
  await fetch(`http://ann:s%20ecret@127.0.0.1:${proxy.port}`);
  expect(proxy.seen).toEqual([`GET http://${knownName}:${mirror.port}${path} ann:s ecret`]);
  expect(mirror.requests).toEqual([path]);
});

test('a socks5 proxy looks the name up itself and gets the password', async () => {
  proxy = await startSocksProxy({ knownName });
  await fetch(`socks5://ann:secret@127.0.0.1:${proxy.port}`);
  expect(proxy.seen).toEqual([`SOCKS ${knownName}:${mirror.port} ann:secret`]);
  expect(mirror.requests).toEqual([path]);
});

test('a proxy that is not there is named in the error, without its password', async () => {
  await expect(fetch('http://ann:secret@127.0.0.1:9')).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringMatching(/ECONNREFUSED.* through the proxy http:\/\/127\.0\.0\.1:9\.$/),
    sentence: expect.not.stringContaining('secret'),
  });
});

test('the response of a proxy that refuses is reported', async () => {
  proxy = await startHttpProxy();
  await expect(fetch(`http://127.0.0.1:${proxy.port}`)).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringContaining('HTTP 502 through the proxy'),
  });
  expect(proxy.seen).toHaveLength(3);
});
