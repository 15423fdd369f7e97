import type { Price } from '@model-gateway/billing';
import type { UsageEvent } from '@model-gateway/contracts';
import { fullSize, randomFrom, waitUntil } from '@model-gateway/testkit';
import { startOllamaServer } from '@model-gateway/testkit/upstreams';
import { RETRY_REASONS } from '@model-gateway/router';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import {
  startPricedUpstream,
  type PricedCall,
  type PricedUpstream,
  type PricedUsage,
} from './priced-upstream.ts';
import { startSlowUpstream } from '../chat/slow-upstream.ts';
import { takeUsage } from './usage-journal.ts';

const NO_FURTHER = {
  cachedInputPerMillion: null,
  cacheWritePerMillion: null,
  audioInputPerMillion: null,
  audioOutputPerMillion: null,
  cachedAudioInputPerMillion: null,
  imageOutputPerMillion: null,
  perImage: null,
  perMinuteAudio: null,
  perRequest: null,
};
const PRICES: readonly Price[] = [
  {
    pattern: 'full',
    backend: null,
    inputPerMillion: 3,
    outputPerMillion: 15,
    cachedInputPerMillion: 0.3,
    cacheWritePerMillion: 3.75,
    audioInputPerMillion: 32,
    audioOutputPerMillion: 64,
    cachedAudioInputPerMillion: null,
    imageOutputPerMillion: null,
    perImage: 0.04,
    perMinuteAudio: 0.006,
    perRequest: 0.001,
  },
  { pattern: 'full', backend: 'spare', inputPerMillion: 7, outputPerMillion: 9, ...NO_FURTHER },
  { pattern: 'plain', backend: null, inputPerMillion: 1, outputPerMillion: 2, ...NO_FURTHER },
];
const CAPABILITIES = ['chat', 'completions', 'images', 'transcription'];

let gateway: GatewayUnderTest;
let cloud: PricedUpstream;
let spare: PricedUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  for (const price of PRICES) await gateway.test.context.database.prices.set(price);
  await gateway.test.context.bus.channels.publish('prices', 'full');
  cloud = await startPricedUpstream(['full', 'plain', 'unknown']);
  spare = await startPricedUpstream(['full']);
  const capabilities = CAPABILITIES;
  await registerBackend(gateway, { type: 'external', name: 'cloud', url: cloud.url, capabilities });
  await registerBackend(gateway, { type: 'external', name: 'spare', url: spare.url, capabilities });
  // The price of one backend is known when its model is listed at the higher of both.
  await waitUntil(async () => {
    const listed = await fetch(`${gateway.url}/v1/models/full`, { headers: authorization() });
    return (await listed.text()).includes('0.000007');
  });
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([cloud.close(), spare.close()]);
});

const authorization = (key = gateway.key) => ({ authorization: `Bearer ${key}` });
const rows = (count: number) => takeUsage(gateway.test.context.bus.journal, count);

interface Ask extends PricedUsage {
  readonly api: 'chat' | 'stream' | 'completions' | 'streamed completions' | 'images' | 'audio';
  readonly model: 'full' | 'plain' | 'unknown';
  /** Whether the first backend that is asked fails. */
  readonly fails: boolean;
  /** Whether it is asked again, and the answer comes from the exact cache. */
  readonly repeats?: boolean;
}

function send(
  { api, model, fails: _fails, repeats: _repeats, ...usage }: Ask,
  key = gateway.key,
): Promise<Response> {
  const user = JSON.stringify(usage);
  if (api === 'audio') {
    const body = new FormData();
    body.set('model', model);
    body.set('prompt', user);
    body.set('file', new Blob(['RIFF']), 'a.wav');
    const init = { method: 'POST', headers: authorization(key), body };
    return fetch(`${gateway.url}/v1/audio/transcriptions`, init);
  }
  const [path, fields] = pathAndFields(api);
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: authorization(key),
    body: JSON.stringify({ model, user, ...fields }),
  });
}

function pathAndFields(api: Exclude<Ask['api'], 'audio'>): readonly [string, object] {
  switch (api) {
    case 'images':
      return ['images/generations', { prompt: 'a cat' }];
    case 'completions':
    case 'streamed completions':
      return ['completions', { prompt: 'Hi', stream: api !== 'completions' }];
    case 'chat':
    case 'stream':
      return [
        'chat/completions',
        { messages: [{ role: 'user', content: 'Hi' }], stream: api === 'stream' },
      ];
  }
}

/** In billionths of a dollar, by another way than the service computes it. */
function truthOf(call: PricedCall, backend: string, api: Ask['api']): number | null {
  const price =
    PRICES.find((one) => one.pattern === call.model && one.backend === backend) ??
    PRICES.find((one) => one.pattern === call.model && one.backend === null);
  if (price === undefined) return null;
  const nano = (usd: number | null): number => Math.round((usd ?? 0) * 1e9);
  const perRequest = nano(price.perRequest);
  if (api === 'images') return (call.images ?? 0) * nano(price.perImage) + perRequest;
  if (api === 'audio') return ((call.seconds ?? 0) * nano(price.perMinuteAudio)) / 60 + perRequest;
  const cached = call.cached * nano(price.cachedInputPerMillion ?? price.inputPerMillion);
  const written = call.written * nano(price.cacheWritePerMillion ?? price.inputPerMillion);
  const heard = call.heard ?? 0;
  const spoken = call.spoken ?? 0;
  const others = (call.prompt - call.cached - call.written - heard) * nano(price.inputPerMillion);
  const completion =
    heard * nano(price.audioInputPerMillion ?? price.inputPerMillion) +
    (call.completion - spoken) * nano(price.outputPerMillion) +
    spoken * nano(price.audioOutputPerMillion ?? price.outputPerMillion);
  return (cached + written + others + completion) / 1e6 + perRequest;
}

const ASKS = fullSize(400, { small: 40 });
const SEED = 20_261_117;

function askOf(random: () => number): Ask {
  const upTo = (max: number): number => Math.floor(random() * (max + 1));
  const oneOf = <Value>(values: readonly [Value, ...Value[]]): Value =>
    values[upTo(values.length - 1)] ?? values[0];
  const [others, cached, written] = [upTo(5_000), upTo(5_000), upTo(5_000)];
  const completion = 1 + upTo(5_000);
  return {
    api: oneOf(['chat', 'stream', 'completions', 'streamed completions', 'images', 'audio']),
    model: oneOf(['full', 'full', 'plain', 'unknown']),
    fails: random() < 0.5,
    repeats: random() < 0.3,
    prompt: 1 + others + cached + written,
    cached,
    written,
    completion,
    beside: upTo(1) * upTo(completion),
    heard: upTo(1) * upTo(others),
    spoken: upTo(1) * upTo(completion),
    images: 1 + upTo(3),
    seconds: 1 + upTo(600),
  };
}

test('the sum of the rows is what the upstreams served times the prices', async () => {
  const random = randomFrom(SEED);
  const { secret: cachedKey } = await keysOf(gateway.test).create({
    userId: gateway.userId,
    name: 'cached',
    settings: { cacheTtlSecs: 3_600 },
  });
  let truth = 0;
  let hits = 0;
  let billed = 0;
  for (let count = 0; count < ASKS; count += 1) {
    const ask = askOf(random);
    const before = { cloud: cloud.served.length, spare: spare.served.length };
    // Only this model has another backend, and an upload cannot always be sent again.
    if (ask.fails && ask.model === 'full' && ask.api !== 'audio') cloud.failNext(1);
    const response = await send(ask, cachedKey);
    expect(response.status).toBe(200);
    await response.text();
    cloud.failNext(0);
    const [row] = await rows(1);
    const served = [
      ...cloud.served.slice(before.cloud).map((call) => ({ call, backend: 'cloud' })),
      ...spare.served.slice(before.spare).map((call) => ({ call, backend: 'spare' })),
    ];
    expect(served).toHaveLength(1);
    for (const { call, backend } of served) {
      const nano = truthOf(call, backend, ask.api);
      expect(row).toMatchObject({ upstream: backend, model: ask.model });
      expect(row?.price === undefined).toBe(nano === null);
      expect(row?.cost === null).toBe(nano === null);
      expect((row?.cost ?? 0) * 1e9).toBeCloseTo(nano ?? 0, 3);
      truth += nano ?? 0;
    }
    billed += (row?.cost ?? 0) * 1e9;
    // Nothing else is cached.
    if (ask.repeats !== true || (ask.api !== 'chat' && ask.api !== 'stream')) continue;
    await (await send(ask, cachedKey)).text();
    const [again] = await rows(1);
    expect(again).toMatchObject({ cached: true, cost: 0, total_tokens: 0, model: ask.model });
    expect(cloud.served.length + spare.served.length).toBe(before.cloud + before.spare + 1);
    billed += (again?.cost ?? 0) * 1e9;
    hits += 1;
  }
  expect(hits).toBeGreaterThan(0);
  expect(billed).toBeCloseTo(truth, 2);
  expect(spare.served.length).toBeGreaterThan(0);
});

describe('a row', () => {
  const usage = { prompt: 100, completion: 10, cached: 60, written: 20 };
  const rowOf = async (ask: Partial<Ask>): Promise<UsageEvent | undefined> => {
    const response = await send({ api: 'chat', model: 'full', fails: false, ...usage, ...ask });
    await response.text();
    return (await rows(1))[0];
  };

  test('keeps its price, the source of it, and what is priced apart', async () => {
    expect(await rowOf({ api: 'stream', model: 'plain' })).toMatchObject({
      cached_tokens: 60,
      cache_write_tokens: 20,
      price: {
        source: 'override',
        pattern: 'plain',
        input_per_million: 1,
        output_per_million: 2,
      },
    });
    // What is billed of the cache is not more than the prompt.
    expect(await rowOf({ model: 'plain', cached: 70, written: 40 })).toMatchObject({
      cached_tokens: 70,
      cache_write_tokens: 30,
    });
    expect(await rowOf({ model: 'plain', heard: 9, spoken: 7 })).toMatchObject({
      media_tokens: { audio_input: 9, cached_audio_input: 0, audio_output: 7, image_output: 0 },
    });
    expect(await rowOf({ api: 'images', model: 'plain', images: 3 })).toMatchObject({ images: 3 });
    const spoken = await rowOf({ api: 'audio', model: 'plain', seconds: 90 });
    expect(spoken).toMatchObject({ audio_seconds: 90 });
  });

  test('says so where its price comes from the configuration file', async () => {
    const { database, bus } = gateway.test.context;
    const entry = { section: 'prices', name: 'plain', hash: 'x', target: null } as const;
    await database.fileEntries.put(entry);
    await bus.channels.publish('prices', '');
    await waitUntil(async () => (await rowOf({ model: 'plain' }))?.price?.source === 'file');
    await database.fileEntries.remove('prices', 'plain');
    await bus.channels.publish('prices', '');
  });

  test('of a model that runs on a machine of the operator costs nothing', async () => {
    const local = await startOllamaServer({ models: ['gpt-4o-mine:latest'] });
    const backend = { type: 'local-server', name: 'mine', url: local.url };
    expect((await registerBackend(gateway, backend)).status).toBe(200);
    const { database, bus } = gateway.test.context;
    const body = JSON.stringify({
      model: 'gpt-4o-mine',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const ask = async () => {
      const init = { method: 'POST', headers: authorization(), body };
      const response = await fetch(`${gateway.url}/v1/chat/completions`, init);
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { object: 'chat.completion' },
      ]);
      return (await rows(1))[0];
    };
    expect(await ask()).toMatchObject({ cost: 0, upstream: 'mine', price: { source: 'local' } });
    await database.prices.set({
      pattern: 'gpt-4o-mine',
      backend: 'mine',
      inputPerMillion: 0,
      outputPerMillion: 0,
      ...NO_FURTHER,
      perRequest: 0.5,
    });
    await bus.channels.publish('prices', 'gpt-4o-mine');
    await waitUntil(async () => (await ask())?.cost === 0.5);
    await local.close();
  });
});

describe('a request reserves', () => {
  test.each([
    { why: 'at the price of the dearest target of its route', body: { model: 'a-route' } },
    {
      why: 'at the price of the dearest of its models',
      body: { model: 'unpriced-slow', models: ['full'] },
    },
  ])('$why', async ({ body }) => {
    const slow = await startSlowUpstream('unpriced-slow');
    const name = `slow-${body.model}`;
    await registerBackend(gateway, { type: 'external', name, url: slow.url });
    const { database, bus } = gateway.test.context;
    await database.routeRules.set({
      model: 'a-route',
      targets: [
        { model: 'unpriced-slow', priority: 0, weight: 1 },
        { model: 'full', priority: 1, weight: 1 },
      ],
      attempts: 2,
      retryOn: RETRY_REASONS,
    });
    await bus.channels.publish('routes', 'a-route');
    await waitUntil(async () => {
      const init = { headers: authorization() };
      return (await fetch(`${gateway.url}/v1/models/a-route`, init)).status === 200;
    });
    // 100 output tokens of the dearest target cost more than that.
    const { secret } = await keysOf(gateway.test).create({
      userId: gateway.userId,
      name: 'budget',
      settings: { budgetUsd: 0.001 },
    });
    const ask = () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: authorization(secret),
        body: JSON.stringify({
          max_tokens: 100,
          messages: [{ role: 'user', content: 'Hi' }],
          ...body,
        }),
      });
    const first = ask();
    await slow.untilWaiting(1);
    const second = await ask();
    expect([second.status, await second.json()]).toMatchObject([
      402,
      { error: { message: expect.stringContaining('reserved') } },
    ]);
    slow.answerAll();
    expect((await first).status).toBe(200);
    await rows(1);
    await slow.close();
  });
});
