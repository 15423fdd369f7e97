import type { Price } from '@model-gateway/billing';
import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { RETRY_REASONS } from '@model-gateway/router';
import { fullSize, waitUntil } from '@model-gateway/testkit';
import * as fc from 'fast-check';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import {
  startScriptedBiller,
  type BillScript,
  type ScriptedBehavior,
  type ScriptedBiller,
  type ScriptedUsage,
} from './scripted-bills.ts';
import { takeUsage } from './usage-journal.ts';

const RUNS = fullSize(150, { small: 8 });
const BACKENDS = ['one', 'two'] as const;
/** A model of each backend, one of both, and routes over them. */
const MODELS = { one: ['only-one', 'both'], two: ['only-two', 'both'] };
const NONE = {
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
    pattern: 'only-one',
    backend: null,
    inputPerMillion: 3,
    outputPerMillion: 15,
    cachedInputPerMillion: 0.3,
    cacheWritePerMillion: 3.75,
    ...NONE,
    perRequest: 0.001,
  },
  {
    pattern: 'only-two',
    backend: null,
    inputPerMillion: 1,
    outputPerMillion: 2,
    cachedInputPerMillion: null,
    cacheWritePerMillion: null,
    ...NONE,
  },
  {
    pattern: 'both',
    backend: 'one',
    inputPerMillion: 5,
    outputPerMillion: 6,
    cachedInputPerMillion: 0.5,
    cacheWritePerMillion: null,
    ...NONE,
  },
  {
    pattern: 'both',
    backend: 'two',
    inputPerMillion: 7,
    outputPerMillion: 9,
    cachedInputPerMillion: null,
    cacheWritePerMillion: 8,
    ...NONE,
  },
];

/** The same twice as dear. The prices change from one to the other and back. */
const RAISED = PRICES.map((price): Price => {
  const twice = (usd: number | null): number | null => (usd === null ? null : 2 * usd);
  return {
    ...price,
    inputPerMillion: 2 * price.inputPerMillion,
    outputPerMillion: 2 * price.outputPerMillion,
    cachedInputPerMillion: twice(price.cachedInputPerMillion),
    cacheWritePerMillion: twice(price.cacheWritePerMillion),
    perRequest: twice(price.perRequest),
  };
});
type Catalogue = typeof PRICES;

let gateway: GatewayUnderTest;
let catalogue: Catalogue = PRICES;
let upstreams: Readonly<Record<(typeof BACKENDS)[number], ScriptedBiller>>;
let key: string;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '1000000',
    SERVICE_BREAKER_FAILURES: '1000000',
  });
  const { database, bus } = gateway.test.context;
  await setPrices(PRICES);
  upstreams = {
    one: await startScriptedBiller('one', MODELS.one),
    two: await startScriptedBiller('two', MODELS.two),
  };
  for (const name of BACKENDS) {
    await registerBackend(gateway, { type: 'external', name, url: upstreams[name].url });
  }
  const targets = [
    { model: 'only-one', priority: 0, weight: 1 },
    { model: 'only-two', priority: 1, weight: 1 },
  ];
  const rule = { targets, attempts: 2, retryOn: RETRY_REASONS };
  await database.routeRules.set({ ...rule, model: 'routed' });
  await database.routeRules.set({ ...rule, model: 'hedged', hedgeAfterMs: 1 });
  for (const model of ['routed', 'hedged']) await bus.channels.publish('routes', model);
  key = (
    await keysOf(gateway.test).create({
      userId: gateway.userId,
      name: 'cached',
      settings: { cacheTtlSecs: 3_600 },
    })
  ).secret;
  await waitUntil(async () => (await listed('hedged')).status === 200);
  await pricesKnown();
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([upstreams.one.close(), upstreams.two.close()]);
});

const listed = (model: string): Promise<Response> =>
  fetch(`${gateway.url}/v1/models/${model}`, { headers: { 'x-api-key': key } });

async function setPrices(prices: Catalogue): Promise<void> {
  const { database, bus } = gateway.test.context;
  for (const price of prices) await database.prices.set(price);
  catalogue = prices;
  await bus.channels.publish('prices', 'both');
}

/** The prices are known when a model of both backends is listed at the higher of its two. */
const pricesKnown = (): Promise<void> => {
  const highest = catalogue === PRICES ? '0.000007' : '0.000014';
  return waitUntil(async () => (await (await listed('both')).text()).includes(highest));
};

/** One request, and what the upstreams do with it. */
interface Ask {
  readonly api: 'chat' | 'stream' | 'messages';
  readonly model: 'only-one' | 'both' | 'routed' | 'hedged' | 'fallback';
  readonly script: BillScript;
  /** Whether it is asked a second time, which the cache answers if the first was answered. */
  readonly repeats: boolean;
}

const usage: fc.Arbitrary<ScriptedUsage> = fc
  .tuple(fc.nat(5_000), fc.nat(5_000), fc.nat(5_000), fc.nat(5_000))
  .map(([others, cached, written, completion]) => ({
    prompt: 1 + others + cached + written,
    cached,
    written,
    completion: 1 + completion,
  }));

/** Only a hedged request ends when its first target hangs, and only if the second answers. */
const behaviors = (
  model: Ask['model'],
): readonly (readonly [ScriptedBehavior, ScriptedBehavior])[] =>
  model === 'hedged' ? [...ENDING, ['hangs', 'answers'], ['answers', 'hangs']] : ENDING;
const ENDING = [
  ['answers', 'answers'],
  ['fails', 'answers'],
  ['answers', 'fails'],
  ['fails', 'fails'],
] as const;

const ask: fc.Arbitrary<Ask> = fc
  .constantFrom<Ask['model'][]>('only-one', 'both', 'routed', 'hedged', 'hedged', 'fallback')
  .chain((model) =>
    fc
      .tuple(
        fc.constantFrom<Ask['api'][]>('chat', 'stream', 'messages'),
        fc.constantFrom(...behaviors(model)),
        usage,
        usage,
        fc.boolean(),
      )
      .map(([api, [one, two], ofOne, ofTwo, repeats]) => ({
        api,
        model,
        repeats,
        script: {
          id: '',
          upstreams: { one: { ...ofOne, does: one }, two: { ...ofTwo, does: two } },
        },
      })),
  );

function send({ api, model, script }: Ask): Promise<Response> {
  const names = model === 'fallback' ? { model: 'only-one', models: ['only-two'] } : { model };
  const body = {
    ...names,
    max_tokens: 10_000,
    messages: [{ role: 'user', content: JSON.stringify(script) }],
    ...(api === 'stream' ? { stream: true } : {}),
  };
  return fetch(`${gateway.url}/v1/${api === 'messages' ? 'messages' : 'chat/completions'}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

interface Answered {
  readonly id: string;
  readonly status: number;
  readonly cache: string | null;
}

async function answer(asked: Ask): Promise<Answered> {
  const response = await send(asked);
  await response.text();
  const { status, headers } = response;
  return { id: headers.get('x-request-id') ?? '', status, cache: headers.get('x-service-cache') };
}

/** In billionths of a dollar, by another way than the service computes it. */
function charged(
  prices: Catalogue,
  { backend, model, used }: { backend: string; model: string; used: ScriptedUsage },
): number {
  const price = prices.find(
    (one) => one.pattern === model && (one.backend === backend || one.backend === null),
  );
  if (price === undefined) throw new Error(`${model} has no price`);
  const nano = (usd: number | null): number => Math.round((usd ?? 0) * 1e9);
  const others = used.prompt - used.cached - used.written;
  const perMillion =
    others * nano(price.inputPerMillion) +
    used.cached * nano(price.cachedInputPerMillion ?? price.inputPerMillion) +
    used.written * nano(price.cacheWritePerMillion ?? price.inputPerMillion) +
    used.completion * nano(price.outputPerMillion);
  return perMillion / 1e6 + nano(price.perRequest);
}

/** The rows of these requests, and of one more that ends them: there are no others. */
async function rowsOf(ids: readonly string[]): Promise<ReadonlyMap<string, UsageEvent>> {
  const last = await answer({
    api: 'chat',
    model: 'only-one',
    repeats: false,
    script: { id: newId(), upstreams: {} },
  });
  const rows = await takeUsage(gateway.test.context.bus.journal, ids.length + 1);
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...ids, last.id].toSorted());
  return new Map(rows.map((row) => [row.id, row]));
}

const nanoOf = (row: UsageEvent): number => (row.cost ?? NaN) * 1e9;

/** What the upstreams charge for one script, and who of them answered it. */
const chargesOf = (scriptId: string, prices = catalogue) =>
  BACKENDS.flatMap((backend) =>
    upstreams[backend].charges
      .filter(({ id }) => id === scriptId)
      .map((charge) => ({
        backend,
        nano: charged(prices, { backend, model: charge.model, used: charge }),
        charge,
      })),
  );

/** The prices that a row says it was billed at: while they change it may be either. */
function catalogueOf(row: UsageEvent): Catalogue {
  const found = [PRICES, RAISED].find((prices) =>
    prices.some(
      ({ pattern, backend, inputPerMillion }) =>
        pattern === row.model &&
        (backend === null || backend === row.upstream) &&
        inputPerMillion === row.price?.input_per_million,
    ),
  );
  if (found === undefined) throw new Error(`no price is that of ${JSON.stringify(row)}`);
  return found;
}

/** What the answers that a row does not bill, because another target was faster, are charged at. */
function expectRow(row: UsageEvent, { script }: Ask): number {
  const charges = chargesOf(script.id, catalogueOf(row));
  const billed = charges.filter(({ backend }) => backend === row.upstream);
  expect(billed).toHaveLength(1);
  for (const { nano, charge } of billed) {
    expect(row).toMatchObject({
      model: charge.model,
      prompt_tokens: charge.prompt,
      completion_tokens: charge.completion,
      cached_tokens: charge.cached,
      cache_write_tokens: charge.written,
      status: 200,
    });
    expect(nanoOf(row)).toBeCloseTo(nano, 3);
  }
  const unbilled = charges.filter(({ backend }) => backend !== row.upstream);
  for (const { backend } of unbilled) {
    expect(row.attempts).toContainEqual(
      expect.objectContaining({ backend, outcome: 'left', reason: 'hedged' }),
    );
  }
  return unbilled.reduce((sum, { nano }) => sum + nano, 0);
}

/** One of the requests is answered by the cache in every run. */
const REPEATED: Ask = {
  api: 'chat',
  model: 'only-one',
  repeats: true,
  script: { id: '', upstreams: {} },
};

/** No upstream answered, and nothing is billed. Each API has its own status for that. */
function expectFailure(status: number, { script }: Ask): number {
  expect(status).toBeGreaterThanOrEqual(500);
  expect(chargesOf(script.id)).toEqual([]);
  return 0;
}

const run = fc.record({
  asks: fc.array(ask, { minLength: 1, maxLength: 8 }),
  /** Whether the prices change while the requests are served. */
  changesPrices: fc.boolean(),
});

test('the sum of the rows is what the upstreams charge, without the answers of targets that lost against another', async () => {
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(run, async ({ asks, changesPrices }) => {
      const scripts = asks.map((one) => ({ ...one, script: { ...one.script, id: newId() } }));
      const earlier = catalogue;
      const [first] = await Promise.all([
        Promise.all(scripts.map(answer)),
        changesPrices ? setPrices(earlier === PRICES ? RAISED : PRICES) : undefined,
      ]);
      await pricesKnown();
      const again = scripts.filter((one, index) => one.repeats && first[index]?.status === 200);
      const repeated = await Promise.all(again.map(answer));
      const served = first.filter(({ status }) => status === 200);
      const rows = await rowsOf([...served, ...repeated].map(({ id }) => id));
      let [billed, truth] = [0, 0];
      for (const [index, one] of scripts.entries()) {
        const { id = '', status = 0 } = first[index] ?? {};
        const row = rows.get(id);
        const prices = row === undefined ? catalogue : catalogueOf(row);
        expect(changesPrices ? [PRICES, RAISED] : [earlier]).toContain(prices);
        truth += chargesOf(one.script.id, prices).reduce((sum, { nano }) => sum + nano, 0);
        truth -= row === undefined ? expectFailure(status, one) : expectRow(row, one);
        billed += row === undefined ? 0 : nanoOf(row);
      }
      for (const { id, cache } of repeated) {
        const row = rows.get(id);
        expect(cache).toBe('hit');
        expect(row).toMatchObject({ cached: true, cost: 0, total_tokens: 0 });
        billed += row === undefined ? NaN : nanoOf(row);
        hits += 1;
      }
      expect(billed).toBeCloseTo(truth, 2);
    }),
    {
      numRuns: RUNS,
      // The second begins at the prices that the first left.
      examples: [
        [{ asks: [REPEATED], changesPrices: true }],
        [{ asks: [REPEATED], changesPrices: false }],
      ],
    },
  );
  expect(hits).toBeGreaterThan(0);
});
