import { createServiceRuntime } from '@model-gateway/service';
import {
  createTestAccount,
  createTestContext,
  expectRecorded,
  rpcCall,
  testRedisUrl,
  uniquePrefix,
  type TestContext,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createGateway } from 'gateway/app';
import { createRpc } from 'rpc/app';
import { readStandaloneConfig } from '../../src/config.ts';

// Which refusal wins where two could: compared with what was recorded. `TEST_RECORD=1 npm test -- apps/standalone/tests/records`
// records it anew.

const MODEL = 'gpt-4o-exact';
const PLENTY_RPM = 100_000;

/** What can refuse a request, or answer it before a model does. */
const REASONS = [
  'wrong key',
  'limit of the process',
  'shared limit',
  'bad body',
  'quota',
  'budget',
  'model not allowed',
  'unknown model',
  'address',
  'conversation',
  'cached',
] as const;
type Reason = (typeof REASONS)[number];

/** What counts for `chat.send`, which comes with an access token. */
const OF_TOKENS: readonly Reason[] = [
  'wrong key',
  'shared limit',
  'bad body',
  'quota',
  'unknown model',
  'conversation',
];

const SURFACES = {
  chat: { path: '/v1/chat/completions', text: 'messages', more: {} },
  messages: { path: '/v1/messages', text: 'messages', more: { max_tokens: 50 } },
  responses: { path: '/v1/responses', text: 'input', more: { store: false } },
} as const;
type Surface = keyof typeof SURFACES;

let stores: TestContext;
let upstream: RunningChatUpstream;
/** By the requests that a key has in a minute, there. */
let urls: { readonly plenty: string; readonly one: string };
let rpcUrl: string;
let conversationOfAnother: string;
let users = 0;

beforeAll(async () => {
  stores = await createTestContext();
  upstream = await startChatUpstream({ models: [MODEL] });
  const { context } = stores;
  const configOf = (requestsPerMinute: number) => ({
    ...readStandaloneConfig({
      SERVICE_API_RATE_LIMIT_RPM: String(requestsPerMinute),
      SERVICE_REDIS_PREFIX: uniquePrefix(),
    }),
    queueRedisUrl: testRedisUrl(),
  });
  const config = configOf(PLENTY_RPM);
  const runtime = createServiceRuntime(config, context);
  const plenty = createGateway(config, context, { runtime });
  urls = {
    plenty: await stores.serve({
      ...plenty,
      start: async () => {
        await runtime.start();
        await plenty.start();
      },
      stop: async () => {
        await plenty.stop();
        await runtime.stop();
      },
    }),
    one: await stores.serve(createGateway(configOf(1), context, { runtime })),
  };
  rpcUrl = await stores.serve(createRpc(config, context, { runtime }));
  await runtime.router.registry.register({
    name: 'upstream',
    type: 'external',
    url: upstream.url,
    apiKey: null,
    models: [],
    capabilities: null,
  });
  const { plans, conversations } = context.database;
  const unlimited = { monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null };
  await plans.saveTier('free', unlimited);
  await plans.saveTier('shared limit', { ...unlimited, rpm: 1 });
  await plans.saveTier('quota', { ...unlimited, monthlyUsdQuota: 0 });
  await plans.saveTier('shared limit and quota', { ...unlimited, rpm: 1, monthlyUsdQuota: 0 });
  const another = await createTestAccount(context, 'another@example.com');
  conversationOfAnother = crypto.randomUUID();
  await conversations.create({ id: conversationOfAnother, userId: another.id, title: 'talk' });
});
afterAll(async () => {
  await stores.close();
  await upstream.close();
});

interface Caller {
  readonly email: string;
  readonly token: string;
}

async function newCaller(): Promise<Caller> {
  users += 1;
  const email = `user-${users}@example.com`;
  const { token } = await createTestAccount(stores.context, email);
  return { email, token };
}

async function call<Result>(method: string, params: object, { token }: Caller): Promise<Result> {
  const { result, error } = await rpcCall(rpcUrl, method, params, token);
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result as Result;
}

/** Moves a caller to the tier that has these reasons. */
async function applyTier({ email }: Caller, reasons: readonly Reason[]): Promise<void> {
  const names = ['shared limit', 'quota'].filter((name) => reasons.includes(name as Reason));
  if (names.length > 0) await stores.context.database.plans.assign(email, names.join(' and '));
}

const keySettings = (reasons: readonly Reason[]): object => ({
  ...(reasons.includes('budget') && { budget_usd: 0 }),
  ...(reasons.includes('model not allowed') && { models: ['another-model'] }),
  ...(reasons.includes('address') && { addresses: ['10.1.2.3'] }),
});

function bodyOf(surface: Surface, reasons: readonly Reason[]): object {
  const { text, more } = SURFACES[surface];
  const messages = [{ role: 'user', content: 'Hi' }];
  return {
    model: reasons.includes('unknown model') ? 'nobody-serves-this' : MODEL,
    ...more,
    [text]: reasons.includes('bad body') ? 7 : messages,
    ...(reasons.includes('conversation') && { conversation_id: conversationOfAnother }),
  };
}

interface Outcome {
  readonly status: number;
  readonly code: string;
}

async function post(url: string, key: string, path: string, body?: object): Promise<Outcome> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.text();
  if (response.ok)
    return { status: response.status, code: `cache ${response.headers.get('x-service-cache')}` };
  return { status: response.status, code: codeOf(answer) };
}

function codeOf(answer: string): string {
  try {
    const { error } = JSON.parse(answer) as { error: { code?: string; type: string } };
    return `${error.type} / ${error.code ?? 'no code'}`;
  } catch {
    return answer;
  }
}

async function askWithKey(surface: Surface, reasons: readonly Reason[]): Promise<Outcome> {
  const { path } = SURFACES[surface];
  const caller = await newCaller();
  const isCached = reasons.includes('cached');
  const { id, key } = await call<{ id: string; key: string }>(
    'keys.create',
    { name: 'test', ...(isCached && { cache: { ttl_secs: 3_600 } }) },
    caller,
  );
  const secret = reasons.includes('wrong key') ? `${key.slice(0, -4)}0000` : key;
  if (isCached) await post(urls.plenty, key, path, bodyOf(surface, []));
  await applyTier(caller, reasons);
  // The one request of the minute.
  if (reasons.includes('shared limit')) await post(urls.plenty, key, path, bodyOf(surface, []));
  const settings = keySettings(reasons);
  if (Object.keys(settings).length > 0)
    await call('keys.update', { key_id: id, ...settings }, caller);
  const isLimited = reasons.includes('limit of the process');
  if (isLimited) await post(urls.one, key, '/v1/models');
  const url = isLimited ? urls.one : urls.plenty;
  return post(url, secret, path, bodyOf(surface, reasons));
}

async function askWithToken(reasons: readonly Reason[]): Promise<unknown> {
  const caller = await newCaller();
  await applyTier(caller, reasons);
  const params = (given: readonly Reason[]) => bodyOf('chat', given);
  if (reasons.includes('shared limit'))
    await rpcCall(rpcUrl, 'chat.send', params([]), caller.token);
  const token = reasons.includes('wrong key') ? `${caller.token.slice(0, -4)}0000` : caller.token;
  const { error } = await rpcCall(rpcUrl, 'chat.send', params(reasons), token);
  return error === undefined ? 'accepted' : { code: error.code, message: error.message };
}

/** Each reason alone, and every pair. */
const combinations = (reasons: readonly Reason[]): readonly (readonly Reason[])[] => [
  ...reasons.map((reason) => [reason]),
  ...reasons.flatMap((one, at) => reasons.slice(at + 1).map((other) => [one, other])),
];

test('which of two reasons refuses a request', async () => {
  const outcomes = new Map<string, unknown>();
  for (const surface of Object.keys(SURFACES) as Surface[])
    for (const reasons of combinations(REASONS))
      outcomes.set(`${surface}: ${reasons.join(' + ')}`, await askWithKey(surface, reasons));
  for (const reasons of combinations(OF_TOKENS))
    outcomes.set(`chat.send: ${reasons.join(' + ')}`, await askWithToken(reasons));
  await expectRecorded(new URL('recorded/order.jsonl', import.meta.url), outcomes);
});
