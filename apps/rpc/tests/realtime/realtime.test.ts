import { newId } from '@model-gateway/kernel';
import { fullSize, fullTable, waitUntil } from '@model-gateway/testkit';
import {
  startChatUpstream,
  startEngine,
  startRealtimeApi,
  type RunningChatUpstream,
  type RunningEngine,
  type RunningRealtimeApi,
} from '@model-gateway/testkit/upstreams';
import { eventsUrl, startChatScene, type ChatScene } from '../chat/chat-scene.ts';
import { openSocket, openStream } from '../rpc-server.ts';
import { startRealtimeTalk, type RealtimeTalk } from './realtime-scene.ts';

const SESSION_NOT_FOUND = { code: -32_000, message: 'session not found' };
const typesOf = (events: readonly Readonly<Record<string, unknown>>[]) =>
  events.map(({ type }) => type);

let scene: ChatScene;
let older: RunningRealtimeApi;
let current: RunningRealtimeApi;
let engine: RunningEngine;
let chat: RunningChatUpstream;
beforeAll(async () => {
  scene = await startChatScene();
  const answer = () => 'one two';
  older = await startRealtimeApi({ apiKey: 'k', models: ['old-realtime', 'plain'], answer });
  current = await startRealtimeApi({ generation: 'ga', models: ['new-realtime'], answer });
  engine = await startEngine({ models: ['robot'] });
  chat = await startChatUpstream({ models: ['words', 'no-realtime-here'] });
  const { registry } = scene.runtime.router;
  const http = (url: string): string => url.replace('ws', 'http');
  const plain = { type: 'external', models: [], capabilities: null };
  await registry.register({ ...plain, name: 'older', url: http(older.url), apiKey: 'k' });
  await registry.register({ ...plain, name: 'new', url: `${http(current.url)}/v1`, apiKey: null });
  await registry.register({ ...plain, name: 'chat', url: chat.url, apiKey: null });
  await registry.register({ ...plain, name: 'eng', type: 'engine', url: engine.url, apiKey: null });
});
afterAll(async () => {
  await scene.test.close();
  await Promise.all([older.close(), current.close(), engine.close(), chat.close()]);
});

const talks: RealtimeTalk[] = [];
afterEach(async () => {
  for (const talk of talks.splice(0)) {
    await talk.stop();
    talk.close();
  }
  for (const upstream of [older, current]) upstream.faults.clear();
});
async function start(params: object, user = scene.ann): Promise<RealtimeTalk> {
  const talk = await startRealtimeTalk(user, scene.url, params);
  talks.push(talk);
  return talk;
}

const upstreams = [
  {
    upstream: 'the current cloud API',
    model: 'new-realtime',
    delta: 'response.output_audio_transcript.delta',
    reply: 'one two',
    tokens: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
    audio: { audio_input: 10, cached_audio_input: 0, audio_output: 2, image_output: 0 },
  },
  {
    upstream: 'an engine',
    model: 'robot',
    delta: 'response.audio_transcript.delta',
    reply: 'This is the built-in realtime model. I heard 1.0 seconds of audio.',
    tokens: { prompt_tokens: 10, completion_tokens: 24, total_tokens: 34 },
    audio: { audio_input: 10, cached_audio_input: 0, audio_output: 12, image_output: 0 },
  },
  {
    upstream: 'the older cloud API',
    model: 'old-realtime',
    delta: 'response.audio_transcript.delta',
    reply: 'one two',
    tokens: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
    audio: { audio_input: 10, cached_audio_input: 0, audio_output: 2, image_output: 0 },
  },
];

describe.each(fullTable(upstreams, { small: 2 }))(
  'over $upstream',
  ({ model, delta, reply, tokens, audio: mediaTokens }) => {
    const audio = Buffer.alloc(32_000).toString('base64');

    test('a session is opened, accepts events and is stopped', async () => {
      const talk = await start({ model });
      expect([talk.sessionId, talk.streamId]).toEqual([
        expect.stringMatching(/^[\w-]{22}$/),
        expect.stringMatching(/^[\w-]{22}$/),
      ]);
      expect(talk.sessionId).not.toBe(talk.streamId);
      expect(await talk.next()).toMatchObject({ type: 'session.created', session: { model } });
      expect(await talk.say({ type: 'input_audio_buffer.append', audio })).toEqual({ ok: true });
      await talk.say({ type: 'input_audio_buffer.commit' });
      await talk.until('input_audio_buffer.committed');
      const events = await talk.respond();
      const words = events.filter(({ type }) => type === delta);
      expect(words.map((event) => event['delta']).join('')).toBe(reply);
      expect(await talk.stop()).toEqual({ removed: true });
      expect(await talk.stop()).toEqual({ removed: false });
      expect(await talk.refusal()).toEqual(SESSION_NOT_FOUND);
    });

    test('the usage of a response is metered before its end is published', async () => {
      await scene.usage();
      const talk = await start({ model });
      await talk.say({ type: 'input_audio_buffer.append', audio });
      await talk.say({ type: 'input_audio_buffer.commit' });
      await talk.respond();
      expect(await scene.usage()).toEqual([
        expect.objectContaining({
          user_id: scene.ann.id,
          key_id: null,
          api_key_id: `jwt-${scene.ann.id}`,
          project: null,
          model,
          backend: 'realtime',
          ref_id: null,
          ...tokens,
          media_tokens: mediaTokens,
        }),
      ]);
      await talk.respond();
      await talk.respond();
      expect(await scene.usage()).toHaveLength(2);
    });

    test('the transcript is stored in the conversation, one message per response', async () => {
      const id = await scene.conversation();
      const talk = await start({ model, conversation_id: id });
      await talk.say({ type: 'input_audio_buffer.append', audio });
      await talk.say({ type: 'input_audio_buffer.commit' });
      await talk.respond();
      expect(await scene.messages(id)).toMatchObject([
        { role: 'assistant', content: reply, model },
      ]);
      await talk.say({ type: 'session.update', session: { modalities: ['text'] } });
      await talk.respond();
      expect(await scene.messages(id)).toHaveLength(2);
    });

    test('the configuration is sent to the upstream first', async () => {
      const talk = await start({ model, config: { instructions: 'Be brief', voice: 'alloy' } });
      expect(typesOf([await talk.next(), await talk.next()])).toEqual([
        'session.created',
        'session.updated',
      ]);
    });

    test('session.stop closes the session', async () => {
      const talk = await start({ model });
      expect(await talk.say({ type: 'session.stop' })).toEqual({ ok: true });
      expect(await talk.refusal()).toEqual(SESSION_NOT_FOUND);
      expect(await talk.stop()).toEqual({ removed: false });
    });
  },
);

describe('the cloud API', () => {
  test('gets the events of the client unchanged, and nothing without a configuration', async () => {
    const talk = await start({ model: 'old-realtime' });
    const before = older.eventCount;
    const event = { type: 'input_image_buffer.append', image: 'AAAA', more: { n: [1, 'ü\n'] } };
    await talk.say(event);
    await talk.say({ type: 'session.stop' });
    await older.until(() => older.openConnections === 0);
    expect(older.eventCount).toBe(before + 1);
    expect(older.events.at(-1)).toEqual(event);
  });

  test('gets the configuration as a session.update', async () => {
    const config = { voice: 'alloy', turn_detection: null };
    await start({ model: 'old-realtime', config });
    await older.until(() => older.events.at(-1)?.['type'] === 'session.update');
    expect(older.events.at(-1)).toEqual({ type: 'session.update', session: config });
  });

  test('sends events that are passed on unchanged, also numbers and line breaks', async () => {
    const talk = await start({ model: 'old-realtime' });
    await talk.next();
    older.sendToAll('{"type": "odd",\r\n  "big": 9007199254740993, "text": "a\\nb"}');
    const text = await talk.nextText();
    expect(text).toContain('"big": 9007199254740993');
    expect(JSON.parse(text)).toMatchObject({ params: { event: { type: 'odd', text: 'a\nb' } } });
  });
});

test('events reach the upstream in the order in which one socket sent them, without waiting for responses', async () => {
  const talk = await start({ model: 'old-realtime' });
  const socket = await openSocket(scene.url, scene.ann.token);
  const before = older.eventCount;
  const count = fullSize(200, { small: 60 });
  for (let n = 0; n < count; n += 1) {
    const event = { type: 'input_audio_buffer.append', audio: '', n };
    const params = { session_id: talk.sessionId, event };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: n, method: 'realtime.event', params }));
  }
  await older.until(() => older.eventCount === before + count);
  expect(older.events.slice(-count).map(({ n }) => n)).toEqual(
    Array.from({ length: count }, (_, n) => n),
  );
  socket.socket.terminate();
});

test('events of the upstream arrive complete and in order', async () => {
  const talk = await start({ model: 'old-realtime' });
  await talk.next();
  const count = fullSize(2_000, { small: 300 });
  for (let n = 0; n < count; n += 1) older.sendToAll(JSON.stringify({ type: 'tick', n }));
  for (let n = 0; n < count; n += 1) expect(await talk.next()).toEqual({ type: 'tick', n });
});

describe('a tagged session', () => {
  test('records every response, also those without tokens', async () => {
    await scene.usage();
    older.faults.always({ kind: 'failed' });
    const tagged = await start({ model: 'old-realtime', ref_id: ' order-7 ' });
    await tagged.respond();
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    expect(await scene.usage()).toMatchObject([{ ref_id: 'order-7', ...zero }]);
    older.faults.clear();
    older.faults.always({ kind: 'no-usage' });
    await tagged.respond();
    expect(await scene.usage()).toMatchObject([{ ref_id: 'order-7', ...zero }]);
    const untagged = await start({ model: 'old-realtime', ref_id: '' });
    await untagged.respond();
    older.faults.clear();
    await untagged.respond();
    expect(await scene.usage()).toMatchObject([{ ref_id: null, total_tokens: 4 }]);
  });
});

describe('refused', () => {
  const UNKNOWN_SESSION = 'AAAAAAAAAAAAAAAAAAAAAA';
  test.each([
    {
      why: 'a model without a backend',
      params: { model: 'unknown' },
      code: -32_000,
      message: 'No backend available for model: unknown',
    },
    {
      why: 'a model of a chat backend',
      params: { model: 'words' },
      code: -32_000,
      message: "model 'words' does not support realtime sessions",
    },
    {
      why: 'another model of a backend that serves a realtime one',
      params: { model: 'plain' },
      code: -32_000,
      message: "model 'plain' does not support realtime sessions",
    },
    {
      why: 'a missing conversation',
      params: { model: 'old-realtime', conversation_id: newId() },
      code: -32_000,
      message: 'conversation not found',
    },
    {
      why: 'an invalid conversation id',
      params: { model: 'old-realtime', conversation_id: 'mine' },
      code: -32_602,
      message: expect.stringContaining('conversation_id'),
    },
    {
      why: 'a reference that is too long',
      params: { model: 'old-realtime', ref_id: 'x'.repeat(65) },
      code: -32_602,
      message: expect.stringContaining('ref_id'),
    },
  ])('$why', async ({ params, code, message }) => {
    expect(await scene.ann.refusal('realtime.start', params)).toEqual({ code, message });
  });

  test('a realtime model whose upstream does not support it', async () => {
    expect(await scene.ann.refusal('realtime.start', { model: 'no-realtime-here' })).toMatchObject({
      code: -32_000,
      message: expect.stringMatching(/^upstream 404: /),
    });
  });

  test('unknown event types', async () => {
    const talk = await start({ model: 'old-realtime' });
    for (const type of ['conversation.item.create', 'session.created', '', 7]) {
      expect(await talk.refusal({ type })).toMatchObject({ code: -32_602 });
    }
    expect(await talk.refusal({})).toMatchObject({ code: -32_602 });
  });

  test.each([
    { why: 'an unknown one', session_id: UNKNOWN_SESSION },
    { why: 'an invalid id', session_id: 'a b\n*' },
  ])('a session: $why', async ({ session_id }) => {
    const event = { type: 'response.create' };
    expect(await scene.ann.refusal('realtime.event', { session_id, event })).toEqual(
      SESSION_NOT_FOUND,
    );
    expect(await scene.ann.call('realtime.stop', { session_id })).toEqual({ removed: false });
  });

  test('a user whose quota is used up', async () => {
    const { plans } = scene.test.context.database;
    await plans.saveTier('none', { monthlyUsdQuota: 0, monthlyTokenQuota: 0, rpm: null });
    await plans.assign('bob@example.com', 'none');
    expect(await scene.bob.refusal('realtime.start', { model: 'old-realtime' })).toMatchObject({
      code: -32_006,
    });
    await plans.assign('bob@example.com', 'free');
  });
});

test('a client whose event stream opens after the response misses no event', async () => {
  const started = (await scene.ann.call('realtime.start', { model: 'old-realtime' })) as {
    session_id: string;
    stream_session: string;
  };
  const { session_id } = started;
  await scene.usage();
  await scene.ann.call('realtime.event', { session_id, event: { type: 'response.create' } });
  // The response is metered immediately before its end is published.
  await waitUntil(async () => (await scene.usage()).length > 0);
  const stream = await openStream(eventsUrl(scene.url, started.stream_session));
  let text = '';
  while (!text.includes('response.done')) text += await stream.next();
  expect(text).toContain('session.created');
  await scene.ann.call('realtime.stop', { session_id });
  stream.close();
});

describe("another user's", () => {
  test('session is not found, and continues', async () => {
    const talk = await start({ model: 'old-realtime' });
    await talk.next();
    for (const type of ['response.create', 'session.stop']) {
      expect(
        await scene.bob.refusal('realtime.event', { session_id: talk.sessionId, event: { type } }),
      ).toEqual(SESSION_NOT_FOUND);
    }
    expect(await scene.bob.call('realtime.stop', { session_id: talk.sessionId })).toEqual({
      removed: false,
    });
    expect(typesOf(await talk.respond())).toContain('response.done');
  });

  test('conversation cannot be used', async () => {
    const id = await scene.conversation({}, scene.bob);
    expect(
      await scene.ann.refusal('realtime.start', { model: 'old-realtime', conversation_id: id }),
    ).toEqual({ code: -32_000, message: 'conversation not found' });
  });

  test('notifications are forbidden to an authenticated user', async () => {
    const talk = await start({ model: 'old-realtime' });
    const url = `${scene.url}/api/rpc/events?session=${talk.streamId}`;
    const as = (token: string) => openStream(url, { authorization: `Bearer ${token}` });
    expect((await as(scene.bob.token)).status).toBe(403);
    const own = await as(scene.ann.token);
    expect(own.status).toBe(200);
    own.close();
  });
});

test('sessions count as requests', async () => {
  const total = async (): Promise<number> =>
    ((await scene.ann.call('system.status')) as { requests_total: number }).requests_total;
  await waitUntil(async () => (await total()) > 0);
  const { requests } = scene.runtime;
  await requests.stop();
  const before = await total();
  await start({ model: 'old-realtime' });
  await waitUntil(async () => (await total()) === before + 1);
});
