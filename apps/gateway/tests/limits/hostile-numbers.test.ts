import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fullSize, openStoreLine, testRedisUrl, waitUntil } from '@model-gateway/testkit';
import type { StoreLine } from '@model-gateway/testkit';
import { createGateway } from '../../src/app.ts';
import { readGatewayConfig } from '../../src/config.ts';
import { startSlowUpstream } from '../chat/slow-upstream.ts';
import { ADMIN_TOKEN, keysOf, registerBackend, startGateway } from '../gateway.ts';
import type { GatewayUnderTest } from '../gateway.ts';

const MODEL = 'gpt-4o';
/** Of the model, for each token of a completion. */
const USD_PER_TOKEN = 10e-6;
const SETTINGS = { SERVICE_API_RATE_LIMIT_RPM: '100000' };

let gateway: GatewayUnderTest;
let urls: readonly [string, string];
let redisLines: StoreLine[];
let closeUpstream: () => Promise<void>;

beforeEach(async () => {
  redisLines = [];
  closeUpstream = () => Promise.resolve();
  gateway = await startGateway(SETTINGS, {
    async reach(storeUrl) {
      if (storeUrl !== testRedisUrl()) return storeUrl;
      const line = await openStoreLine(storeUrl);
      redisLines.push(line);
      return line.url;
    },
  });
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    ...SETTINGS,
  });
  const peer = await gateway.test.openPeer();
  urls = [gateway.url, await gateway.test.serve(createGateway(config, peer))];
});
afterEach(async () => {
  await closeUpstream();
  await gateway.test.close();
  for (const line of redisLines) await line.close();
});

const cutRedis = (): void => {
  for (const line of redisLines) line.cut();
};

const setTier = (monthlyUsdQuota: number | null, monthlyTokenQuota: number | null) =>
  gateway.test.context.database.plans.saveTier('free', {
    monthlyUsdQuota,
    monthlyTokenQuota,
    rpm: null,
  });

interface Sent {
  readonly path?: string;
  readonly turn?: number;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

/** The fields are JSON text, which can have numbers that no value has. */
function ask(fields: string, { path = 'chat/completions', turn = 0, key, signal }: Sent = {}) {
  const prompt =
    path === 'completions' ? '"prompt":"x"' : '"messages":[{"role":"user","content":"x"}]';
  return fetch(`${urls[turn % 2 === 0 ? 0 : 1]}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key ?? gateway.key}`, 'content-type': 'application/json' },
    body: `{"model":"${MODEL}",${prompt},${fields}}`,
    ...(signal === undefined ? {} : { signal }),
  });
}

const FIELDS = ['max_tokens', 'max_completion_tokens', 'n', 'best_of', 'num_predict'];
const VALUES = ['1e999', '-1e999', '1e308', '-2', '1.5', '"5"'];
const HOSTILE = [
  ...FIELDS.flatMap((name) =>
    VALUES.map((value) => ({ param: name, fields: `"${name}":${value}` })),
  ),
  ...FIELDS.map((name) => ({ param: `extra.${name}`, fields: `"extra":{"${name}":1e999}` })),
  { param: 'best_of', fields: '"max_tokens":0,"best_of":1e999' },
  { param: 'n', fields: '"max_completion_tokens":0,"n":1e999' },
  { param: 'temperature', fields: '"temperature":1e999' },
  { param: 'x.0.y', fields: '"x":[{"y":-1e400}]' },
];

test.each([
  { path: 'chat/completions', type: 'invalid_request' },
  // Its errors always have the form of OpenAI's API.
  { path: 'completions', type: 'invalid_request_error' },
])(
  'a number of $path that is out of range is refused by the name of its field',
  async ({ path, type }) => {
    const answers = await Promise.all(HOSTILE.map(({ fields }) => ask(fields, { path })));
    const errors: unknown[] = await Promise.all(answers.map((answer) => answer.json()));
    expect(answers.map(({ status }) => status)).toEqual(HOSTILE.map(() => 400));
    expect(errors).toMatchObject(
      HOSTILE.map(({ param }) => ({
        error: { type, code: 'invalid_value', param },
      })),
    );
  },
);

test.each([
  { where: 'with Redis', isAlone: false },
  { where: 'without Redis', isAlone: true },
])(
  'beside requests with hostile numbers, tier and budget admit what they cover, $where',
  async ({ isAlone }) => {
    const upstream = await startSlowUpstream(MODEL);
    closeUpstream = () => upstream.close();
    const capabilities = ['chat', 'completions'];
    await registerBackend(gateway, {
      type: 'external',
      name: 'up',
      url: upstream.url,
      capabilities,
    });
    await setTier(1, 100_000);
    const { userId, test: context } = gateway;
    const settings = { budgetUsd: 1, budgetPeriod: 'total' } as const;
    const { secret: key } = await keysOf(context).create({ userId, name: 'limited', settings });
    if (isAlone) cutRedis();
    const leaving = new AbortController();
    const { signal } = leaving;
    const held = [
      ...HOSTILE.map(({ fields }) => fields),
      '"max_tokens":-1',
      '"max_tokens":0',
      '"max_tokens":0,"n":1',
    ].flatMap((fields) =>
      ['completions', 'chat/completions'].map((path) => ask(fields, { path, key, signal })),
    );
    let refused = 0;
    for (const response of held) response.then(() => (refused += 1)).catch(() => undefined);
    await waitUntil(async () => refused + upstream.waiting() === held.length, {
      what: 'each request is refused or waits for its upstream',
    });
    const before = upstream.waiting();
    const dear = Array.from({ length: 8 }, () => ask('"max_tokens":100000', { key, signal }));
    let answered = 0;
    for (const response of dear) response.then(() => (answered += 1)).catch(() => undefined);
    await waitUntil(async () => answered >= 7, { what: '7 refusals' });
    expect(upstream.waiting() - before).toBeLessThanOrEqual(1);
    leaving.abort();
    await Promise.allSettled([...held, ...dear]);
  },
);

const COUNT = fullSize(500, { small: 150 });

/** Every combination is honest or hostile; what the upstream generates is what it was asked for. */
const MIX = [
  '"max_tokens":1000',
  '"max_tokens":1000,"n":2',
  '"max_completion_tokens":3000',
  '"max_tokens":10,"extra":{"max_completion_tokens":4000}',
  '"max_tokens":500,"extra":{"n":4}',
  '"max_tokens":-1',
  '"max_tokens":0,"n":1e999',
  '"max_tokens":1e999',
  '"extra":{"n":1e999,"max_completion_tokens":0}',
  '"max_tokens":2147483647,"n":128',
];
/** The most that one of them generates and costs; the upstream never generates more. */
const LARGEST_TOKENS = 4_100;

interface Generating {
  readonly url: string;
  tokens(): number;
  close(): Promise<void>;
}

/** An upstream that generates as much as it is asked for, after a moment in which other requests arrive. */
async function startGenerating(onRequest: (count: number) => void): Promise<Generating> {
  let tokens = 0;
  let count = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') {
        response.end(JSON.stringify({ object: 'list', data: [{ id: MODEL, object: 'model' }] }));
        return;
      }
      count += 1;
      onRequest(count);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      const numberOf = (name: string): number => Number(body[name] ?? 0);
      const named = Math.max(numberOf('max_tokens'), numberOf('max_completion_tokens'));
      const asked = (named > 0 ? named : 256) * Math.max(numberOf('n'), 1);
      const generated = Math.min(asked, LARGEST_TOKENS - 100);
      tokens += generated + 1;
      const usage = {
        prompt_tokens: 1,
        completion_tokens: generated,
        total_tokens: generated + 1,
      };
      const message = { role: 'assistant', content: 'ok' };
      const choices = [{ index: 0, finish_reason: 'stop', message }];
      setTimeout(() => {
        response.end(
          JSON.stringify({
            id: 'c',
            object: 'chat.completion',
            created: 1,
            model: MODEL,
            choices,
            usage,
          }),
        );
      }, 20);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, tokens: () => tokens, close };
}

test.each([
  { where: 'with Redis', cutAt: Infinity, counters: 1 },
  // Without Redis each process knows only what it serves itself.
  { where: 'without Redis', cutAt: 0, counters: 2 },
  // And what was served before, as long as it is not settled, which nothing does here.
  { where: 'with Redis lost in the middle', cutAt: 5, counters: 3 },
])(
  `${COUNT} requests at once on two gateways, with any mix of fields, use no more than a quota and a budget and one request more, $where`,
  async ({ cutAt, counters }) => {
    const upstream = await startGenerating((count) => {
      if (count === cutAt) cutRedis();
    });
    closeUpstream = () => upstream.close();
    await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
    const [quota, budgetUsd] = [30_000, 0.2];
    await setTier(null, quota);
    const { userId, test: context } = gateway;
    const settings = { budgetUsd, budgetPeriod: 'total' } as const;
    const { secret: key } = await keysOf(context).create({ userId, name: 'limited', settings });
    if (cutAt === 0) cutRedis();
    const sent = (secret: string | undefined, count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, turn) => {
          const fields = MIX[turn % MIX.length] ?? '';
          const response = await ask(fields, {
            turn: Math.floor(turn / MIX.length),
            ...(secret && { key: secret }),
          });
          await response.text();
          return response.status;
        }),
      );
    const ofBudget = await sent(key, COUNT);
    expect(ofBudget).toContain(200);
    const most = (limitTokens: number): number => counters * (limitTokens + LARGEST_TOKENS);
    expect(upstream.tokens()).toBeLessThanOrEqual(most(budgetUsd / USD_PER_TOKEN));
    await sent(undefined, COUNT);
    expect(upstream.tokens()).toBeLessThanOrEqual(most(quota));
  },
);
