import Anthropic from '@anthropic-ai/sdk';
import { createAccessTokens } from '@model-gateway/accounts';
import { newId } from '@model-gateway/kernel';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import OpenAI from 'openai';
import { admin, groupsOf, keysOf, registerBackend, startGateway } from '../gateway.ts';
import type { GatewayUnderTest } from '../gateway.ts';

const QUICK_START = [
  'Qwen/Qwen3-0.6B',
  'Qwen/Qwen3-1.7B',
  'HuggingFaceTB/SmolLM2-1.7B-Instruct',
  'google/gemma-3-1b-it',
  'microsoft/Phi-4-mini-instruct',
  'deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B',
];

let gateway: GatewayUnderTest;
let first: RunningChatUpstream;
let second: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway();
  first = await startChatUpstream({ models: ['a', 'both', 'Qwen/Qwen3-0.6B'] });
  second = await startChatUpstream({ models: ['both', 'b:latest'] });
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([first.close(), second.close()]);
});

interface Listing {
  readonly object: string;
  readonly data: readonly { id: string; object: string; owned_by: string }[];
}

async function list(bearer = gateway.key): Promise<Listing> {
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${bearer}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Listing;
}

const owners = async (bearer?: string): Promise<Record<string, string>> =>
  Object.fromEntries((await list(bearer)).data.map(({ id, owned_by }) => [id, owned_by]));

test('the client of the Messages API gets the models that answer messages in the form of that API', async () => {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  const page = await client.models.list({ limit: 1_000 });
  expect([page.has_more, page.first_id, page.last_id]).toEqual([
    false,
    page.data[0]?.id,
    page.data.at(-1)?.id,
  ]);
  expect(page.data.map(({ id }) => id)).toEqual((await list()).data.map(({ id }) => id));
  expect(await client.models.retrieve('Qwen/Qwen3-0.6B')).toMatchObject({
    type: 'model',
    id: 'Qwen/Qwen3-0.6B',
    display_name: 'Qwen/Qwen3-0.6B',
    created_at: expect.stringMatching(/^20.*Z$/) as string,
    max_input_tokens: null,
  });
});

test('one model can be requested by its id, also one with a slash', async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  expect(await client.models.retrieve('Qwen/Qwen3-0.6B')).toEqual({
    id: 'Qwen/Qwen3-0.6B',
    object: 'model',
    created: expect.any(Number) as number,
    owned_by: 'huggingface',
    status: 'suggested',
    capabilities: ['chat'],
  });
  await expect(client.models.retrieve('missing')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  });
  expect((await fetch(`${gateway.url}/v1/models/missing`)).status).toBe(401);
});

test('HEAD is handled like GET, without the body', async () => {
  const ask = (method: string, key = gateway.key) =>
    fetch(`${gateway.url}/v1/models`, { method, headers: { authorization: `Bearer ${key}` } });
  const [head, get] = [await ask('HEAD'), await ask('GET')];
  expect(head.status).toBe(200);
  expect(await head.text()).toBe('');
  for (const name of ['content-type', 'content-length'])
    expect(head.headers.get(name)).toBe(get.headers.get(name));
  expect((await ask('HEAD', 'missing')).status).toBe(401);
  const wrong = await ask('POST');
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('allow')).toBe('GET, HEAD');
});

test('without a backend the six quick-start models are listed', async () => {
  expect(await list()).toMatchObject({
    object: 'list',
    data: QUICK_START.map((id) => ({
      id,
      object: 'model',
      owned_by: 'huggingface',
      status: 'suggested',
    })),
  });
});

test('a quick-start model that no backend serves is refused with what to do', async () => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({
      model: 'Qwen/Qwen3-1.7B',
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });
  expect(response.status).toBe(404);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe('model_not_found');
  expect(error.message).toMatch(
    /^No backend available for model: Qwen\/Qwen3-1\.7B\. It is only suggested so far\. To serve it, /,
  );
  expect(error.message).toContain('POST /api/admin/backends');
});

test('the models of every healthy backend are listed once, owned by the first that serves them', async () => {
  await registerBackend(gateway, { type: 'external', name: 'first', url: first.url });
  await registerBackend(gateway, { type: 'external', name: 'second', url: second.url });
  await registerBackend(gateway, {
    type: 'external',
    name: 'stopped',
    url: 'http://127.0.0.1:9',
    models: ['never'],
  });
  expect(await owners()).toEqual({
    ...Object.fromEntries(QUICK_START.map((id) => [id, 'huggingface'])),
    a: 'first',
    both: 'first',
    'Qwen/Qwen3-0.6B': 'first',
    'b:latest': 'second',
  });
});

test('a model that is listed as latest is also retrieved by its bare name, as it is served', async () => {
  const retrieve = (id: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/models/${id}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
  const bare = await retrieve('b');
  expect(bare.status).toBe(200);
  expect(await bare.json()).toMatchObject({ id: 'b:latest', owned_by: 'second' });
  expect((await retrieve('b:other')).status).toBe(404);
});

test('an entry says when it was registered, what it can do, and what a token costs', async () => {
  const { database } = gateway.test.context;
  const [registered] = await database.backendConfigs.list();
  const seconds = Math.floor((registered?.createdAt.getTime() ?? 0) / 1000);
  const described = async () => (await list()).data.find(({ id }) => id === 'a');
  const entry = {
    id: 'a',
    object: 'model',
    created: seconds,
    owned_by: 'first',
    capabilities: ['chat', 'embeddings'],
  };
  expect(await described()).toEqual(entry);
  await admin(gateway, 'POST', 'aliases', { alias: 'gpt-4o-mini', target: 'both' });
  // A price belongs to the model that answers, not to the name that was asked for.
  expect((await list()).data.find(({ id }) => id === 'gpt-4o-mini')).toEqual({
    ...entry,
    id: 'gpt-4o-mini',
    created: expect.any(Number) as number,
    owned_by: 'alias',
    alias_of: 'both',
  });
  await admin(gateway, 'DELETE', 'aliases', { alias: 'gpt-4o-mini' });
});

test('the official client lists the models', async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  const ids = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toContain('b:latest');
  expect(ids).toContain('google/gemma-3-1b-it');
});

test('a signed-in user may list them too, and an alias of a routable model is listed', async () => {
  const { jwtSecret, clock } = gateway.test.context;
  const tokens = createAccessTokens({ secret: jwtSecret, expiresInSecs: 60, clock });
  await admin(gateway, 'POST', 'aliases', { alias: 'short', target: 'a' });
  await admin(gateway, 'POST', 'aliases', { alias: 'latest', target: 'b' });
  await admin(gateway, 'POST', 'aliases', { alias: 'broken', target: 'never' });
  const listed = await owners(tokens.sign(gateway.userId));
  expect(listed).toEqual(await owners());
  expect(listed).toMatchObject({ short: 'alias', latest: 'alias' });
  expect(listed).not.toHaveProperty('broken');
  await admin(gateway, 'DELETE', 'aliases', { alias: 'latest' });
  expect(await owners()).not.toHaveProperty('latest');
});

test('a user who has signed out may not list or retrieve models, and other sign-ins may', async () => {
  const { jwtSecret, clock, database } = gateway.test.context;
  const tokens = createAccessTokens({ secret: jwtSecret, expiresInSecs: 60, clock });
  const signIn = async (): Promise<{ readonly familyId: string; readonly token: string }> => {
    const familyId = newId();
    const expiresAt = new Date(clock.now() + 60_000);
    const { userId } = gateway;
    await database.refreshTokens.save({ tokenHash: newId(), familyId, userId, expiresAt });
    return { familyId, token: tokens.sign(userId, familyId) };
  };
  const [leaving, staying] = [await signIn(), await signIn()];
  const statuses = (token: string) =>
    Promise.all(
      ['models', 'models/b:latest'].map(async (path) => {
        const headers = { authorization: `Bearer ${token}` };
        return (await fetch(`${gateway.url}/v1/${path}`, { headers })).status;
      }),
    );
  expect(await statuses(leaving.token)).toEqual([200, 200]);
  await database.refreshTokens.revokeFamily(leaving.familyId, new Date(clock.now()));
  expect(await statuses(leaving.token)).toEqual([401, 401]);
  expect(await statuses(staying.token)).toEqual([200, 200]);
});

test.each([
  {
    why: 'no credential',
    bearer: undefined,
    text: 'Missing Authorization header. Use: Bearer <api_key_or_jwt>',
  },
  {
    why: 'an unknown key',
    bearer: `service-${crypto.randomUUID()}`,
    text: 'Invalid API key or JWT',
  },
  {
    why: 'a token of another issuer',
    bearer: 'eyJhbGciOiJub25lIn0.e30.',
    text: 'Invalid API key or JWT',
  },
])('$why is refused in plain text', async ({ bearer, text }) => {
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
  });
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect([response.status, await response.text()]).toEqual([401, text]);
});

describe('a group key', () => {
  let key: string;
  let groupId: string;
  const rules = () => groupsOf(gateway.test);
  const owner = async () => {
    const user = await gateway.test.context.database.users.findById(gateway.userId);
    if (user === undefined) throw new Error('user not found');
    return user;
  };
  beforeAll(async () => {
    ({ id: groupId } = await rules().groups.create(await owner(), { name: 'Team' }));
    const made = await keysOf(gateway.test).create({
      userId: gateway.userId,
      name: 'team',
      groupId,
    });
    key = made.secret;
  });

  const embed = (model: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, input: 'x' }),
    });
  const chat = (model: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    });

  test('can list and use the models of its group, from the next request on', async () => {
    expect(await owners(key)).toEqual(await owners());
    expect((await embed('b')).status).toBe(200);
    await rules().models.deny(groupId, ['b']);
    expect(Object.keys(await owners(key))).not.toContain('b:latest');
    expect(Object.keys(await owners())).toContain('b:latest');
    for (const refused of [await embed('b'), await chat('b:latest')]) {
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({
        error: { type: 'auth_error', code: 'model_not_allowed' },
      });
    }
    await rules().groups.update(await owner(), groupId, { enforceModelAllowlist: true });
    await rules().models.allow(groupId, ['a']);
    expect(Object.keys(await owners(key))).toEqual(['a', 'short']);
    expect((await chat('both')).status).toBe(403);
    // Also by its alias.
    expect((await chat('short')).status).toBe(200);
    await rules().models.deny(groupId, ['a']);
    expect((await chat('short')).status).toBe(403);
  });

  test('becomes a personal key when the group is deleted', async () => {
    await rules().groups.delete(groupId);
    expect(await owners(key)).toEqual(await owners());
  });
});
