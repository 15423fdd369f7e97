import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { createAccountEvents, type KeySettingChanges } from '@model-gateway/accounts';
import {
  createGate,
  fullSize,
  openStoreLine,
  testRedisUrl,
  waitUntil,
  type StoreLine,
} from '@model-gateway/testkit';
import { createGateway } from '../../src/app.ts';
import { readGatewayConfig } from '../../src/config.ts';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

// A user sends very many requests at once, of all kinds, to two gateways. What was admitted last may exceed the limit, and
// nothing may come after it. Without Redis each gateway counts by itself, so this holds for each of them.

const MODEL = 'gpt-4o-mini';
const SETTINGS = { SERVICE_API_RATE_LIMIT_RPM: '100000' };
const USD_PER_TOKEN = 0.6e-6;
const TOKENS = 10_000;
const AT_ONCE = fullSize(500, { small: 120 });
const PROMPT_TOKENS = 1;

/** Requests whose reservations are made in different ways. An upstream generates what they allow. */
const MIX: readonly { readonly path: string; readonly body: object }[] = [
  { path: 'chat/completions', body: { max_tokens: 1_000 } },
  { path: 'chat/completions', body: { max_completion_tokens: 300, n: 4 } },
  { path: 'chat/completions', body: { max_tokens: 900, extra: { seed: 1 } } },
  { path: 'chat/completions', body: { max_tokens: 1e6 } },
  { path: 'chat/completions', body: { max_tokens: 700, models: ['another-model'] } },
  { path: 'chat/completions', body: { max_tokens: 5, extra: { max_completion_tokens: 800 } } },
  { path: 'messages', body: { max_tokens: 600 } },
  { path: 'responses', body: { max_output_tokens: 1_100, store: false } },
  { path: 'responses', body: { max_output_tokens: 500 } },
  { path: 'completions', body: { max_tokens: 200, n: 2, best_of: 5 } },
];

interface Served {
  readonly gateway: number;
  readonly tokens: number;
}

interface HonestUpstream {
  readonly url: string;
  /** What was asked for and is paid, by the gateway that sent it. */
  readonly served: readonly Served[];
  answerAll(): void;
  close(): Promise<void>;
}

let gateway: GatewayUnderTest;
let urls: readonly string[];
let upstream: HonestUpstream;
let redisLines: StoreLine[];

beforeEach(async () => {
  redisLines = [];
  gateway = await startGateway(SETTINGS, {
    async reach(storeUrl) {
      if (storeUrl !== testRedisUrl()) return storeUrl;
      const line = await openStoreLine(storeUrl);
      redisLines.push(line);
      return line.url;
    },
  });
  const stores = { DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' };
  const config = readGatewayConfig({ ...stores, ...SETTINGS });
  const peer = await gateway.test.openPeer();
  urls = [gateway.url, await gateway.test.serve(createGateway(config, peer))];
  upstream = await startHonestUpstream();
  await registerBackend(gateway, {
    type: 'external',
    name: 'up',
    url: upstream.url,
    capabilities: ['chat', 'completions'],
  });
});
afterEach(async () => {
  await upstream.close();
  await gateway.test.close();
  for (const line of redisLines) await line.close();
});

/** Generates as much as a request allows it to, once all have been admitted or refused. */
async function startHonestUpstream(): Promise<HonestUpstream> {
  const gate = createGate();
  const served: Served[] = [];
  const server: Server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const send = (body: object): void => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    };
    if (request.method === 'GET') {
      send({ object: 'list', data: [{ id: MODEL }, { id: 'another-model' }] });
      return;
    }
    void (async () => {
      const text = await readAll(request);
      const tokens = allowedTokens(JSON.parse(text) as Asked);
      served.push({ gateway: Number(/from gateway (\d)/.exec(text)?.[1]), tokens });
      await gate.opened;
      const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: tokens };
      const message = { role: 'assistant', content: 'ok' };
      const choices = [{ index: 0, finish_reason: 'stop', message, text: 'ok' }];
      send({ id: 'c', object: 'chat.completion', created: 1, model: MODEL, choices, usage });
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    served,
    answerAll: () => gate.open(),
    async close() {
      gate.open();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Asked = Readonly<
  Partial<Record<'max_tokens' | 'max_completion_tokens' | 'n' | 'best_of', number>>
>;

/** At most 1,000 for an answer: a model has its own limit. */
const allowedTokens = ({ max_tokens, max_completion_tokens, n, best_of }: Asked): number =>
  Math.min(max_completion_tokens ?? max_tokens ?? Infinity, 1_000) * Math.max(n ?? 1, best_of ?? 1);

const LIMITS: Readonly<Record<string, () => Promise<KeySettingChanges>>> = {
  async 'a quota'() {
    const { database, bus, log } = gateway.test.context;
    await database.plans.saveTier('free', { monthlyTokenQuota: TOKENS });
    const events = createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
    await events.changed({ kind: 'tiers' });
    return {};
  },
  'the budget of a key': async () => ({ budgetUsd: TOKENS * USD_PER_TOKEN }),
};

const OUTAGES: readonly { readonly where: string; readonly cutAfter: number }[] = [
  { where: 'with Redis', cutAfter: Infinity },
  { where: 'without Redis', cutAfter: 0 },
  { where: 'with a Redis that is lost in the middle', cutAfter: Math.floor(AT_ONCE / 40) },
];

test.each(Object.keys(LIMITS).flatMap((limit) => OUTAGES.map((outage) => ({ limit, ...outage }))))(
  `of ${AT_ONCE} mixed requests at once $limit is exceeded by one, $where`,
  async (scene) => {
    const { limit, cutAfter } = scene;
    const settings = (await LIMITS[limit]?.()) ?? {};
    const { userId } = gateway;
    const { secret } = await keysOf(gateway.test).create({ userId, name: 'limited', settings });
    const statuses: number[] = [];
    const bodies: Promise<unknown>[] = [];
    const ask = async (turn: number): Promise<void> => {
      const { path, body } = MIX[turn % MIX.length] ?? { path: '', body: {} };
      const to = turn % 2;
      const text = `from gateway ${to}`;
      const said = { responses: { input: text }, completions: { prompt: text } };
      const messages = [{ role: 'user', content: text }];
      const named = Object.hasOwn(said, path) ? said[path as keyof typeof said] : { messages };
      const response = await fetch(`${urls[to]}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({ model: MODEL, ...named, ...body }),
      });
      if (response.status !== 200) statuses.push(response.status);
      bodies.push(response.text());
    };
    const decided = (count: number): Promise<void> =>
      waitUntil(async () => statuses.length + upstream.served.length === count, {
        what: 'each request is refused or waits for its upstream',
      });
    const sent: Promise<void>[] = [];
    const sendUpTo = (count: number): void => {
      while (sent.length < count) sent.push(ask(sent.length));
    };
    if (cutAfter > 0 && cutAfter < AT_ONCE) {
      sendUpTo(cutAfter);
      await decided(cutAfter);
    }
    if (cutAfter < AT_ONCE) for (const line of redisLines) line.cut();
    sendUpTo(AT_ONCE);
    await decided(AT_ONCE);
    const refusal = limit === 'a quota' ? 429 : 402;
    expect(statuses).toEqual(statuses.map(() => refusal));
    const spentWithoutLargest = (served: readonly Served[]): number => {
      const all = served.map(({ tokens }) => tokens + PROMPT_TOKENS);
      return all.reduce((sum, tokens) => sum + tokens, 0) - Math.max(...all);
    };
    const parts =
      cutAfter === Infinity
        ? [upstream.served]
        : [0, 1].map((at) => upstream.served.filter((served) => served.gateway === at));
    for (const part of parts) {
      expect(part.length).toBeGreaterThan(0);
      expect(spentWithoutLargest(part)).toBeLessThan(TOKENS);
    }
    upstream.answerAll();
    await Promise.all(sent);
    await Promise.all(bodies);
  },
);
