import { fileURLToPath } from 'node:url';
import { waitUntil } from '@model-gateway/testkit';
import { createFfiScene, newCall, ownProfiles, type FfiScene } from './ffi-scene.ts';

/** For steps that must end by themselves, however busy the machine is. */
const PATIENCE_MS = 120_000;

let scene: FfiScene;

beforeAll(async () => {
  scene = await createFfiScene();
});

afterAll(() => scene.close());

test('a hung engine times out; its process and its profile are removed, and the tool still works', async () => {
  const before = await ownProfiles();
  const { engine, ends } = await scene.start();
  expect(await ownProfiles()).toHaveLength(before.length + 1);
  await expect(
    engine.navigate({ url: 'http://hang/', waitUntil: 'load', timeoutMs: 300 }, newCall()),
  ).rejects.toMatchObject({ code: 'TIMEOUT' });
  await waitUntil(() => ends.length === 1);
  // An engine that ended by itself is not closed again.
  await waitUntil(async () => (await ownProfiles()).length === before.length);
});

test('a crash of the engine is reported once', async () => {
  const { engine, ends } = await scene.start();
  const crash = engine.navigate(
    { url: 'http://crash/', waitUntil: 'load', timeoutMs: PATIENCE_MS },
    newCall(),
  );
  await expect(crash).rejects.toMatchObject({ code: 'BROWSER_CRASHED' });
  expect(ends).toHaveLength(1);
  await engine.close();
});

test.each([
  {
    why: 'of another ABI',
    definition: 'TEST_ABI=2',
    code: 'ENGINE_ABI_MISMATCH',
    text: 'it uses ABI 2',
  },
  {
    why: 'that cannot start',
    definition: 'X',
    code: 'BROWSER_LAUNCH_FAILED',
    text: 'there is no display',
  },
])(
  'a library $why is refused, and nothing of it stays',
  async ({ definition, code, text, why }) => {
    const before = await ownProfiles();
    const path = await scene.libraries.build(definition);
    const proxy = why === 'that cannot start' ? undefined : scene.behind.url;
    await expect(scene.start({ proxy }, path)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(text),
    });
    expect(await ownProfiles()).toEqual(before);
  },
);

test('a file that is no library is refused', async () => {
  await expect(scene.start({}, fileURLToPath(import.meta.url))).rejects.toMatchObject({
    code: 'ENGINE_LIB_NOT_FOUND',
    hint: expect.stringContaining('`bundle`'),
  });
});

test('rules about origins, which no engine can keep, keep the engine from starting', async () => {
  await expect(scene.start({ allowedOrigins: ['https://a.test'] })).rejects.toMatchObject({
    code: 'NOT_SUPPORTED_BY_ENGINE',
  });
});
