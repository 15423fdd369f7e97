import { fullSize, rpcCall, waitUntil } from '@model-gateway/testkit';
import * as fc from 'fast-check';
import { readCorpus } from '../src/run/corpus.ts';
import { casesOf, runCase } from '../src/run/run-case.ts';
import { startBrowserMcpProcess, startBrowserProcess } from '../src/scenes/browser-process.ts';
import { startStandaloneProcess } from '../src/scenes/standalone-process.ts';
import type { AnyScene, ServiceScene } from '../src/target.ts';
import { targets } from '../src/targets/index.ts';

// The short form of `pnpm --filter fuzz start`: the same cases in every run. The browser tool runs without a browser.

const SEED = 1;

let scenes: Readonly<Record<AnyScene['kind'], AnyScene>> & { readonly service: ServiceScene };
beforeAll(async () => {
  const [service, browser, browserMcp] = await Promise.all([
    startStandaloneProcess(),
    startBrowserProcess({ hasBrowser: false }),
    startBrowserMcpProcess({ hasBrowser: false }),
  ]);
  scenes = { service, browser, 'browser-mcp': browserMcp };
});
afterAll(async () => {
  await scenes.service.close();
  await scenes.browser.close();
  await scenes['browser-mcp'].close();
});

describe.each(targets)('$name', (target) => {
  const corpus = readCorpus(target.name);

  if (corpus.length > 0)
    test.each(corpus)('corpus: $name', (entry) =>
      runCase(target, entry.case, scenes[target.scene]),
    );

  test('generated cases', async () => {
    const scene = scenes[target.scene];
    const property = fc.asyncProperty(await casesOf(target, scene), (each) =>
      runCase(target, each, scene),
    );
    const numRuns = fullSize(target.shortCases, { small: Math.ceil(target.shortCases / 6) });
    await fc.assert(property, { seed: SEED, numRuns, endOnFailure: true });
  });
});

test('a route that a case of one target has set does not reach the next target', async () => {
  const { restUrl, rpcUrl, values } = scenes.service;
  const { model = '', admin_token: adminToken = '', api_key: key = '' } = values;
  const targetsOfNone = { model, targets: [{ model: 'served by no backend' }] };
  await rpcCall(rpcUrl, 'routes.set', targetsOfNone, adminToken);
  await rpcCall(rpcUrl, 'aliases.set', { alias: 'fuzz-local', target: model }, adminToken);
  const ask = async (of: string): Promise<number> => {
    const response = await fetch(`${restUrl}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: of, input: 'Hello' }),
    });
    return response.status;
  };
  const models = [model, 'fuzz-local'];
  await waitUntil(async () => (await Promise.all(models.map(ask))).every((one) => one === 404), {
    what: 'the route',
  });
  for (const target of targets) await casesOf(target, scenes[target.scene]);
  expect(await Promise.all(models.map(ask))).toEqual([200, 200]);
});

test('no case changed the prototype of objects', async () => {
  for (const scene of Object.values(scenes))
    expect(await scene.measure()).toMatchObject({ isPolluted: false });
});
