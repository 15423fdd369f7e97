import { rpcCall } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { startBothSurfaces, type BothSurfaces } from './both-surfaces.ts';

let surfaces: BothSurfaces;
let upstream: RunningChatUpstream;
let conversation_id = '';
let streamId = '';

const turn = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const bobCalls = (method: string, params: object) =>
  rpcCall(surfaces.rpcUrl, method, params, surfaces.bob.token);
const annCalls = async (method: string, params: object) =>
  (await rpcCall(surfaces.rpcUrl, method, params, surfaces.ann.token)).result;

beforeAll(async () => {
  surfaces = await startBothSurfaces();
  upstream = await startChatUpstream({ models: ['m'] });
  const config = { apiKey: null, models: [], capabilities: null };
  await surfaces.runtime.router.registry.register({
    name: 'up',
    type: 'external',
    url: upstream.url,
    ...config,
  });
  ({ id: conversation_id } = (await annCalls('conversations.create', {})) as { id: string });
  ({ stream_id: streamId } = (await annCalls('chat.send', { ...turn, conversation_id })) as {
    stream_id: string;
  });
});
afterAll(async () => {
  await surfaces.test.close();
  await upstream.close();
});

const NOT_FOUND = { code: -32_000, message: 'conversation not found' };

test.each([
  { method: 'conversations.get', params: () => ({ conversation_id }) },
  { method: 'conversations.get', params: () => ({ id: conversation_id }) },
  { method: 'conversations.delete', params: () => ({ conversation_id }) },
  { method: 'chat.send', params: () => ({ ...turn, conversation_id }) },
])(
  'over RPC a conversation of another user is not found by $method',
  async ({ method, params }) => {
    expect((await bobCalls(method, params())).error).toEqual(NOT_FOUND);
  },
);

test.each([{ stream: true }, { stream: false }])(
  'over REST a conversation of another user is refused, with stream: $stream',
  async ({ stream }) => {
    const response = await surfaces.chat(surfaces.bob, { ...turn, conversation_id, stream });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { type: 'auth_error', code: 'conversation_forbidden' },
    });
  },
);

test('the stream of another user is refused to an authenticated user', async () => {
  const url = `${surfaces.rpcUrl}/api/rpc/events?session=${streamId}`;
  const headers = { authorization: `Bearer ${surfaces.bob.token}` };
  expect((await fetch(url, { headers })).status).toBe(403);
  expect((await fetch(`${url}&token=${surfaces.bob.token}`)).status).toBe(403);
});

test('refused calls change no conversation and create none', async () => {
  expect((await bobCalls('conversations.list', {})).result).toEqual([]);
  const kept = (await annCalls('conversations.get', { conversation_id })) as {
    messages: { role: string }[];
  };
  expect(kept.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
});
