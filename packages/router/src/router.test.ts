import { silentLog } from '@model-gateway/kernel';
import type { Backend, BackendKind, Probe } from './backend.ts';
import { createRouter } from './router.ts';

function backend(
  name: string,
  probe: () => Promise<Probe>,
  kind: BackendKind = 'external',
): Backend {
  return { name, kind, capabilities: () => new Set(), probe, close: async () => undefined };
}

const serving =
  (...models: string[]) =>
  async (): Promise<Probe> => ({ state: 'Healthy', models });

async function routerOf(...backends: readonly Backend[]) {
  const router = createRouter({ log: silentLog, probeTimeoutMs: 100 });
  for (const one of backends) {
    await router.register(one, { listed: true });
    await router.probe(one.name);
  }
  return router;
}

test('a backend is not routable before its first probe', async () => {
  const router = createRouter({ log: silentLog, probeTimeoutMs: 100 });
  await router.register(backend('a', serving('m')), { listed: true });
  expect(() => router.choose('m')).toThrow('No backend available for model: m');
  expect(router.list()).toMatchObject([{ state: 'Unhealthy', reason: 'not probed yet' }]);
  await router.probe('a');
  expect(router.choose('m')).toMatchObject({ model: 'm', backend: { name: 'a' } });
});

test('the backend with the fewest requests is chosen', async () => {
  const router = await routerOf(backend('a', serving('m')), backend('b', serving('m')));
  const chosen = Array.from({ length: 4 }, () => router.choose('m').backend.name);
  expect(chosen).toEqual(['a', 'b', 'a', 'b']);
});

test('a provider hint matches the name or the kind, in any case', async () => {
  const router = await routerOf(backend('a', serving('m')), backend('b', serving('m'), 'engine'));
  expect(router.choose('m', { provider: 'B' }).backend.name).toBe('b');
  expect(router.choose('m', { provider: 'Engine' }).backend.name).toBe('b');
  expect(() => router.choose('m', { provider: 'nobody' })).toThrow(
    'No backend available for model: m',
  );
});

test('a model whose backends are all away is known but unavailable', async () => {
  let away = false;
  const router = await routerOf(
    backend('a', async () => {
      if (away) throw new Error('refused');
      return { state: 'Healthy', models: ['m'] };
    }),
  );
  away = true;
  await router.probe('a');
  expect(() => router.choose('m')).toThrow('all backends unhealthy');
});

test('a registration under the same name replaces the earlier one in place and closes it', async () => {
  let closed = 0;
  const old: Backend = { ...backend('a', serving('old')), close: async () => void (closed += 1) };
  const router = await routerOf(old, backend('b', serving('m')));
  await router.register(backend('a', serving('new')), { listed: true });
  expect(router.list().map((entry) => entry.backend.name)).toEqual(['a', 'b']);
  expect(closed).toBe(1);
});

test('an unlisted backend serves but appears in no listing', async () => {
  const router = createRouter({ log: silentLog, probeTimeoutMs: 100 });
  await router.register(backend('demo', serving('demo-chat')), { listed: false });
  await router.probe('demo');
  expect(router.choose('demo-chat').backend.name).toBe('demo');
  expect(router.list()).toEqual([]);
});
