import type { FoundPrice } from '@model-gateway/billing';
import { DEFAULT_RETRIES, type Capability, type RouteRule } from '@model-gateway/router';
import { modelEntries, type ListingFacts } from './model-entries.ts';
import type { ListedBackend } from './served-models.ts';

const AT = new Date('2026-03-01T00:00:00Z');
const SECONDS = AT.getTime() / 1000;

function backend(
  name: string,
  models: readonly string[],
  {
    capabilities = ['chat'] as readonly Capability[],
    contextLength = undefined as number | undefined,
  } = {},
): ListedBackend {
  return {
    backend: { name } as ListedBackend['backend'],
    isRoutable: true,
    models,
    contextLengths:
      contextLength === undefined ? new Map() : new Map(models.map((id) => [id, contextLength])),
    registeredAt: AT,
    can: (capability) => capabilities.includes(capability),
  };
}

function entries(facts: Partial<ListingFacts>): Record<string, unknown> {
  const listed = modelEntries({
    backends: [],
    unlisted: [],
    routes: [],
    aliases: [],
    priceOf: () => undefined,
    suggests: true,
    ...facts,
  });
  return Object.fromEntries(
    listed.filter(({ owned_by }) => owned_by !== 'huggingface').map((entry) => [entry.id, entry]),
  );
}

const alias = (name: string, target: string) => ({ alias: name, target, setAt: AT });

test('backends that share a model: all their capabilities, the smallest context, the first owner', () => {
  const backends = [
    backend('one', ['m'], { contextLength: 8_192 }),
    backend('two', ['m'], { capabilities: ['embeddings'], contextLength: 4_096 }),
    backend('three', ['m'], { capabilities: [] }),
  ];
  expect(entries({ backends })).toEqual({
    m: {
      id: 'm',
      object: 'model',
      created: SECONDS,
      owned_by: 'one',
      capabilities: ['chat', 'embeddings'],
      context_length: 4_096,
    },
  });
});

test('an unlisted backend is listed while no backend is registered, healthy or not', () => {
  const unlisted = [backend('demo', ['demo-chat'])];
  expect(entries({ unlisted })).toMatchObject({ 'demo-chat': { owned_by: 'demo' } });
  const down = { ...backend('one', ['m']), isRoutable: false };
  expect(entries({ unlisted, backends: [down] })).toEqual({});
});

/** A price of the built-in kind. */
function priceOf(input: number, output: number, cached: number | null = null): FoundPrice {
  const rates = { inputPerMillion: input, outputPerMillion: output, cachedInputPerMillion: cached };
  return {
    ...rates,
    cacheWritePerMillion: null,
    audioInputPerMillion: null,
    audioOutputPerMillion: null,
    cachedAudioInputPerMillion: null,
    imageOutputPerMillion: null,
    perImage: null,
    perMinuteAudio: null,
    perRequest: null,
    source: 'built-in',
    record: { source: 'built-in', input_per_million: input, output_per_million: output },
  };
}

test('the price of a model is the highest of the backends that serve it', () => {
  const prices = new Map([
    ['one', priceOf(1, 8, 0.5)],
    ['two', priceOf(2, 4)],
  ]);
  const listed = entries({
    backends: [backend('one', ['m']), backend('two', ['m']), backend('free', ['m'])],
    priceOf: (_model, on) => prices.get(on?.name ?? ''),
  });
  const pricing = { prompt: '0.000002', completion: '0.000008', cached_prompt: '0.000002' };
  expect(listed['m']).toMatchObject({ pricing });
});

test('an alias has the facts of its target, and replaces a model of the same id', () => {
  const priced = priceOf(0.15, 0.6);
  const listed = entries({
    backends: [backend('one', ['m', 'other:latest'], { contextLength: 100 })],
    unlisted: [backend('demo', ['demo-chat'])],
    aliases: [alias('a', 'm'), alias('m', 'other'), alias('d', 'demo-chat'), alias('x', 'gone')],
    priceOf: (model) => (model === 'm' ? priced : undefined),
  });
  expect(Object.keys(listed).toSorted()).toEqual(['a', 'd', 'm', 'other:latest']);
  expect(listed['a']).toEqual({
    id: 'a',
    object: 'model',
    created: SECONDS,
    owned_by: 'alias',
    alias_of: 'm',
    capabilities: ['chat'],
    context_length: 100,
    pricing: { prompt: '0.00000015', completion: '0.0000006', cached_prompt: '0.00000015' },
  });
  expect(listed['m']).toMatchObject({ owned_by: 'alias', alias_of: 'other' });
  expect(listed['d']).toMatchObject({ alias_of: 'demo-chat' });
});

const route = (model: string, target: string): RouteRule => ({
  model,
  targets: [{ model: target, priority: 0, weight: 1 }],
  ...DEFAULT_RETRIES,
});

test('a model whose id is an alias of something that is not served is not listed', () => {
  const aliases = [alias('m', 'gone'), alias('best', 'gone'), alias('Qwen/Qwen3-0.6B', 'gone')];
  const listed = modelEntries({
    backends: [backend('one', ['m', 'other'])],
    unlisted: [],
    routes: [route('best', 'other')],
    aliases,
    priceOf: () => undefined,
    suggests: true,
  }).map(({ id }) => id);
  expect(listed).toContain('other');
  expect(listed.filter((id) => aliases.some((one) => one.alias === id))).toEqual([]);
});

test('models that nobody serves yet are marked, and can be left out', () => {
  const suggestions = (backends: readonly ListedBackend[], suggests: boolean) => {
    const facts = { backends, unlisted: [], routes: [], aliases: [], priceOf: () => undefined };
    return modelEntries({ ...facts, suggests }).filter(({ status }) => status === 'suggested');
  };
  expect(suggestions([], true)).toHaveLength(6);
  expect(suggestions([backend('one', ['Qwen/Qwen3-0.6B'])], true)).toHaveLength(5);
  expect(suggestions([], false)).toEqual([]);
});

test('an alias of a route is listed with what the first target can do, while there is one', () => {
  const listed = entries({
    backends: [backend('one', ['m'], { contextLength: 100 })],
    aliases: [alias('a', 'best'), alias('x', 'lost')],
    routes: [route('best', 'm'), route('lost', 'gone')],
    priceOf: () => priceOf(1, 2),
  });
  expect(Object.keys(listed).toSorted()).toEqual(['a', 'best', 'm']);
  expect(listed['a']).toEqual({
    id: 'a',
    object: 'model',
    created: SECONDS,
    owned_by: 'alias',
    alias_of: 'best',
    capabilities: ['chat'],
    context_length: 100,
  });
});
