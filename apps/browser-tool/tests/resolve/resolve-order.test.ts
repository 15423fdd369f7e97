import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { silentLog } from '@model-gateway/kernel';
import { resolveBrowser, type ResolveConfig } from '../../src/resolve/index.ts';
import { createResolveScene, type ResolveScene } from './resolve-scene.ts';

let scene: ResolveScene;

beforeEach(async () => {
  scene = await createResolveScene({ skipBrowserFetch: true });
});

afterEach(() => scene.remove());

const resolve = (changes: Partial<ResolveConfig> = {}) =>
  resolveBrowser({ ...scene.config, ...changes }, silentLog);

function overridden(
  paths: Partial<Record<keyof ResolveConfig['overrides'], string>>,
): Pick<ResolveConfig, 'overrides'> {
  const { overrides } = scene.config;
  const changed = Object.entries(paths).map(([backend, path]) => [
    backend,
    overrides[backend as keyof typeof paths].map((entry, index) =>
      index === 0 ? { ...entry, path } : entry,
    ),
  ]);
  return { overrides: { ...overrides, ...Object.fromEntries(changed) } };
}

async function bake(executable: string): Promise<void> {
  await mkdir(dirname(scene.config.bakedFile), { recursive: true });
  const baked = { executable, version: '155.0.8059.39' };
  await writeFile(scene.config.bakedFile, JSON.stringify(baked));
}

test('a variable comes before the build, and the build before the system', async () => {
  const system = await scene.program('first/google-chrome');
  expect(await resolve()).toEqual({
    kind: 'cdp',
    backend: 'chrome',
    executable: system,
    resolvedBy: 'system',
  });
  const baked = await scene.program('baked/chrome-headless-shell');
  await bake(baked);
  expect(await resolve()).toMatchObject({ executable: baked, resolvedBy: 'baked' });
  const own = await scene.program('own/chrome');
  expect(await resolve(overridden({ chrome: own }))).toMatchObject({
    executable: own,
    resolvedBy: 'override',
  });
});

test('a missing or invalid record of the build is ignored', async () => {
  const system = await scene.program('first/chromium');
  await bake(join(scene.folder, 'gone'));
  expect(await resolve()).toMatchObject({ executable: system, resolvedBy: 'system' });
  await writeFile(scene.config.bakedFile, 'not json');
  expect(await resolve()).toMatchObject({ executable: system, resolvedBy: 'system' });
});

test('what the build fetched serves as chrome and as chromium, and never as edge', async () => {
  const baked = await scene.program('baked/chrome-headless-shell');
  await bake(baked);
  expect(await resolve({ backend: 'chromium' })).toMatchObject({
    backend: 'chromium',
    resolvedBy: 'baked',
  });
  await expect(resolve({ backend: 'edge' })).rejects.toMatchObject({ code: 'BROWSER_NOT_FOUND' });
});

test('auto takes chrome before chromium before edge', async () => {
  await scene.program('first/microsoft-edge');
  expect(await resolve()).toMatchObject({ backend: 'edge' });
  await scene.program('second/chromium');
  expect(await resolve()).toMatchObject({ backend: 'chromium' });
  await scene.program('second/google-chrome');
  expect(await resolve()).toMatchObject({ backend: 'chrome' });
});

test('in auto the first variable that is set wins', async () => {
  const edge = await scene.program('own/edge');
  const chromium = await scene.program('own/chromium');
  expect(await resolve(overridden({ edge }))).toMatchObject({ backend: 'edge' });
  expect(await resolve(overridden({ edge, chromium }))).toMatchObject({ backend: 'chromium' });
});

test('a chosen backend does not look at the variables of the others', async () => {
  const chrome = await scene.program('own/chrome');
  const system = await scene.program('first/chromium');
  expect(await resolve({ backend: 'chromium', ...overridden({ chrome }) })).toMatchObject({
    executable: system,
  });
});

test('the folders of PATH are searched in their order, and a well-known place after the program before it', async () => {
  const wellKnown = await scene.program('opt/chrome');
  expect(await resolve()).toMatchObject({ executable: wellKnown });
  const second = await scene.program('second/google-chrome');
  expect(await resolve()).toMatchObject({ executable: second });
  const first = await scene.program('first/google-chrome');
  expect(await resolve()).toMatchObject({ executable: first });
  await chmod(first, 0o644);
  expect(await resolve()).toMatchObject({ executable: second });
});

test.each([
  { why: 'missing', make: async () => undefined, text: 'does not exist' },
  {
    why: 'not executable',
    make: async (path: string) => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, 'text', { mode: 0o644 });
    },
    text: 'is not executable',
  },
  {
    why: 'a folder',
    make: async (path: string) => {
      await mkdir(path, { recursive: true });
    },
    text: 'is not a file',
  },
])('a variable whose path is $why is an error that names it', async ({ make, text }) => {
  await scene.program('first/google-chrome');
  const chrome = join(scene.folder, 'own', 'chrome');
  await make(chrome);
  await expect(resolve(overridden({ chrome }))).rejects.toMatchObject({
    code: 'BROWSER_NOT_FOUND',
    message: `CHROME_PATH is set to ${chrome}, which ${text}.`,
    details: { variable: 'CHROME_PATH' },
  });
});

test('without a browser the error lists what was tried, that downloads are off, and what to do', async () => {
  await expect(resolve()).rejects.toMatchObject({
    code: 'BROWSER_NOT_FOUND',
    sentence:
      'no chrome, chromium or edge found. Tried CHROME_PATH (unset), UNSET (unset), CHROMIUM_PATH (unset), UNSET (unset), ' +
      'EDGE_PATH (unset), UNSET (unset), PATH: google-chrome, chromium, chromium-browser, microsoft-edge, ' +
      `${join(scene.folder, 'opt', 'chrome')}; download disabled by BROWSER_SKIP_BROWSER_FETCH. ` +
      'Install one or set CHROMIUM_PATH=/path/to/chromium.',
  });
});

test('edge is never downloaded', async () => {
  await expect(resolve({ backend: 'edge', skipBrowserFetch: false })).rejects.toMatchObject({
    code: 'BROWSER_NOT_FOUND',
    message: expect.stringContaining('no edge found.'),
    sentence: expect.stringMatching(
      /edge is never downloaded\. Install one or set EDGE_PATH=\/path\/to\/msedge\.$/,
    ),
  });
});

test('an unknown backend is reported with the six known ones', async () => {
  await expect(resolve({ backend: 'netscape' })).rejects.toMatchObject({
    code: 'INVALID_BACKEND',
    sentence:
      'BROWSER_BACKEND is "netscape", which is not a backend. Use one of auto, chrome, chromium, edge, firefox, servo.',
  });
  await expect(resolve({ backend: 'Chrome' })).rejects.toMatchObject({ code: 'BROWSER_NOT_FOUND' });
});

test('libraries of the build are reported with the browser', async () => {
  const executable = await scene.program('first/chromium');
  expect(await resolve()).not.toHaveProperty('libraryFolder');
  await scene.program('output/lib/libx.so');
  expect(await resolve()).toMatchObject({
    executable,
    libraryFolder: join(scene.folder, 'output', 'lib'),
  });
});

test('an engine is its library: its own variable, the common one, beside the tool, the cache', async () => {
  const cached = await scene.program('cache/engines/servo/libbrowser_engine_servo.so');
  const servo = { backend: 'servo' };
  expect(await resolve(servo)).toEqual({
    kind: 'ffi',
    backend: 'servo',
    library: cached,
    resolvedBy: 'system',
  });
  const shipped = await scene.program('output/lib/libbrowser_engine_servo.so');
  expect(await resolve(servo)).toMatchObject({ library: shipped, resolvedBy: 'baked' });
  const { overrides } = scene.config;
  const common = [
    { variable: 'BROWSER_SERVO_ENGINE', path: undefined },
    { variable: 'BROWSER_ENGINE_PATH', path: shipped },
  ];
  expect(await resolve({ ...servo, overrides: { ...overrides, servo: common } })).toMatchObject({
    library: shipped,
    resolvedBy: 'override',
  });
  expect(await resolve({ ...servo, ...overridden({ servo: cached }) })).toMatchObject({
    library: cached,
    resolvedBy: 'override',
  });
});

test('an engine without its library reports where it was searched and what to do', async () => {
  await expect(resolve({ backend: 'firefox' })).rejects.toMatchObject({
    code: 'ENGINE_LIB_NOT_FOUND',
    message: expect.stringMatching(
      /^no library of the firefox engine was found; tried BROWSER_FIREFOX_ENGINE \(unset\), BROWSER_ENGINE_PATH \(unset\), /,
    ),
    hint: expect.stringContaining('set BROWSER_FIREFOX_ENGINE to it'),
  });
  const gone = join(scene.folder, 'gone.so');
  await expect(
    resolve({ backend: 'firefox', ...overridden({ firefox: gone }) }),
  ).rejects.toMatchObject({
    code: 'ENGINE_LIB_NOT_FOUND',
    message: `BROWSER_FIREFOX_ENGINE is set to ${gone}, which is not a file.`,
  });
});
