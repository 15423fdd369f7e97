import { access, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { silentLog } from '@model-gateway/kernel';
import { autoFetch, resolveBrowser } from '../../src/resolve/index.ts';
import { startMirror, type Mirror } from './mirror.ts';
import { createResolveScene, type ResolveScene } from './resolve-scene.ts';
import { makeBrowserZip } from './zip.ts';

let mirror: Mirror;
let scene: ResolveScene;

beforeEach(async () => {
  mirror = await startMirror(makeBrowserZip('linux64', '155.0.8059.39'));
  scene = await createResolveScene({ chromeMirror: mirror.url });
  await mkdir(dirname(scene.config.bakedFile), { recursive: true });
});

afterEach(async () => {
  await mirror.close();
  await scene.remove();
});

test('a build that fetches writes the path down, and the tool then finds the browser without looking further', async () => {
  await scene.program('first/google-chrome');
  const message = await autoFetch(scene.config, true, silentLog);
  const found = await resolveBrowser(scene.config, silentLog);
  expect(found).toMatchObject({ kind: 'cdp', resolvedBy: 'baked' });
  expect(message).toBe(
    `The browser of this build is ${found.kind === 'cdp' ? found.executable : ''}.`,
  );
  expect(JSON.parse(await readFile(scene.config.bakedFile, 'utf8'))).toMatchObject({
    version: '155.0.8059.39',
  });
  expect(mirror.requests).toHaveLength(1);
});

test('a later build without the download removes it', async () => {
  await autoFetch(scene.config, true, silentLog);
  expect(await autoFetch(scene.config, false, silentLog)).toBeUndefined();
  await expect(access(scene.config.bakedFile)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('the skip variable has priority, and the build reports it and continues', async () => {
  const skipping = { ...scene.config, skipBrowserFetch: true };
  expect(await autoFetch(skipping, true, silentLog)).toContain('BROWSER_SKIP_BROWSER_FETCH');
  await expect(access(scene.config.bakedFile)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(mirror.requests).toEqual([]);
});

test('a build that cannot fetch fails', async () => {
  mirror.answer((response) => response.writeHead(404).end());
  await expect(autoFetch(scene.config, true, silentLog)).rejects.toMatchObject({
    code: 'DOWNLOAD_FAILED',
  });
});
