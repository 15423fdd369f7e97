import { asObject, type JsonObject } from '@model-gateway/demo-model/answers';
import { connectSocket, type SocketClient } from '../wire/socket-client.ts';
import { startRealtimeApi, type RunningRealtimeApi } from './realtime-api.ts';
import type { RealtimeGeneration } from './response-events.ts';

let api: RunningRealtimeApi;
let client: SocketClient;
async function start(generation: RealtimeGeneration = 'beta', deltaDelayMs = 0): Promise<void> {
  await api?.close();
  api = await startRealtimeApi({ apiKey: 'k', generation, deltaDelayMs, answer: () => 'one two' });
  client = await connectSocket(`${api.url}/v1/realtime?model=demo-realtime`, 'k');
  expect((await client.next()).type).toBe('session.created');
}
beforeEach(() => start());
afterEach(() => api.close());

const is =
  (type: string) =>
  (event: JsonObject): boolean =>
    event.type === type;
const typesOf = (events: readonly JsonObject[]): readonly unknown[] =>
  events.map((event) => event.type);
async function respond(response: JsonObject = {}): Promise<readonly JsonObject[]> {
  client.send({ type: 'response.create', response });
  return client.readUntil(is('response.done'));
}
const endOf = (events: readonly JsonObject[]): JsonObject => asObject(events.at(-1)?.response);

describe('the realtime API', () => {
  it('updates its session', async () => {
    client.send({ type: 'session.update', session: { instructions: 'Be brief', voice: 'alloy' } });
    expect(await client.next()).toMatchObject({
      type: 'session.updated',
      session: { model: 'demo-realtime', voice: 'alloy', instructions: 'Be brief' },
    });
  });

  it('receives audio and responds with speech, its transcript and its usage', async () => {
    const audio = Buffer.alloc(16_000).toString('base64');
    client.send({ type: 'input_audio_buffer.append', audio });
    client.send({ type: 'input_audio_buffer.append', audio });
    client.send({ type: 'input_audio_buffer.commit' });
    expect((await client.next()).type).toBe('input_audio_buffer.committed');
    expect((await client.next()).type).toBe('conversation.item.created');
    const events = await respond();
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.output_item.added',
      'conversation.item.created',
      'response.content_part.added',
      'response.audio_transcript.delta',
      'response.audio.delta',
      'response.audio_transcript.delta',
      'response.audio.delta',
      'response.audio.done',
      'response.audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(events.find(is('response.audio_transcript.done'))).toMatchObject({
      transcript: 'one two',
    });
    expect(endOf(events)).toMatchObject({
      status: 'completed',
      usage: {
        input_tokens: 10,
        output_tokens: 4,
        total_tokens: 14,
        input_tokens_details: { audio_tokens: 10, text_tokens: 0 },
      },
    });
    expect(api.served).toMatchObject([{ model: 'demo-realtime', outputTokens: 4 }]);
  });

  it('answers in text when only text is wanted', async () => {
    const item = { role: 'user', content: [{ type: 'input_text', text: 'hello there' }] };
    client.send({ type: 'conversation.item.create', item });
    await client.next();
    const events = await respond({ modalities: ['text'] });
    expect(events.filter(is('response.text.delta')).map((event) => event.delta)).toEqual([
      'one',
      ' two',
    ]);
    expect(endOf(events)).toMatchObject({ usage: { input_tokens: 2, output_tokens: 2 } });
  });

  it('uses the current names if configured', async () => {
    await start('ga');
    const spoken = await respond();
    expect(typesOf(spoken)).toEqual(
      expect.arrayContaining([
        'conversation.item.added',
        'response.output_audio_transcript.delta',
        'response.output_audio.delta',
      ]),
    );
    expect(endOf(spoken)).toMatchObject({ usage: { input_token_details: { text_tokens: 0 } } });
    const written = await respond({ output_modalities: ['text'] });
    expect(typesOf(written)).toContain('response.output_text.delta');
  });

  it('cancels a running response, once', async () => {
    await start('beta', 1_000);
    client.send({ type: 'response.create' });
    await client.readUntil(is('response.content_part.added'));
    client.send({ type: 'response.create' });
    expect(await client.next()).toMatchObject({
      error: { code: 'conversation_already_has_active_response' },
    });
    client.send({ type: 'response.cancel' });
    expect(endOf([await client.next()])).toMatchObject({ status: 'cancelled' });
    client.send({ type: 'response.cancel' });
    expect(await client.next()).toMatchObject({ error: { code: 'response_cancel_not_active' } });
  });

  it('clears its buffer, and refuses an empty one and unknown events', async () => {
    client.send({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    client.send({ type: 'input_image_buffer.append', image: 'AAAA' });
    client.send({ type: 'input_audio_buffer.clear' });
    expect((await client.next()).type).toBe('input_audio_buffer.cleared');
    client.send({ type: 'input_audio_buffer.commit', event_id: 'mine' });
    expect(await client.next()).toMatchObject({
      type: 'error',
      error: { code: 'input_audio_buffer_commit_empty', event_id: 'mine' },
    });
    client.send({ type: 'nonsense' });
    expect(await client.next()).toMatchObject({ error: { code: 'invalid_value' } });
    expect(api.eventCount).toBe(5);
    expect(api.events.at(-1)).toEqual({ type: 'nonsense' });
  });

  it('lists its models to who has the key', async () => {
    const list = (key: string): Promise<Response> =>
      fetch(`${api.url.replace('ws', 'http')}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
      });
    expect(await (await list('k')).json()).toMatchObject({ data: [{ id: 'demo-realtime' }] });
    expect((await list('wrong')).status).toBe(401);
  });

  it.each([
    { why: 'a wrong key', path: '/v1/realtime?model=m', key: 'wrong', status: '401' },
    { why: 'no model', path: '/v1/realtime', key: 'k', status: '400' },
    { why: 'another path', path: '/other?model=m', key: 'k', status: '404' },
  ])('refuses $why', async ({ path, key, status }) => {
    await expect(connectSocket(`${api.url}${path}`, key)).rejects.toThrow(status);
  });
});

describe('faults of the realtime API', () => {
  it('closes instead of answering, or every session at once', async () => {
    api.faults.next({ kind: 'close', code: 1011, reason: 'overloaded' });
    client.send({ type: 'response.create' });
    expect(await client.closed).toBe(1011);
    await start();
    api.closeSessions(1001);
    expect(await client.closed).toBe(1001);
  });

  it('cuts the connection in the middle of a response', async () => {
    api.faults.next({ kind: 'cut', afterDeltas: 2 });
    client.send({ type: 'response.create' });
    expect(await client.closed).toBe(1006);
    expect(api.served).toMatchObject([{ outputTokens: 2 }]);
  });

  it('answers an error, garbage, late, or nothing', async () => {
    api.faults.next({ kind: 'error', message: 'no' });
    client.send({ type: 'response.create' });
    expect(await client.next()).toMatchObject({ type: 'error', error: { message: 'no' } });
    api.faults.next({ kind: 'garbage' });
    client.send({ type: 'response.create' });
    expect(await client.next()).toHaveProperty('raw');
    api.faults.next({ kind: 'slow', delayMs: 40 });
    const startedAt = performance.now();
    await respond();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(35);
    api.faults.next({ kind: 'silent' }, 1, 'session.update');
    client.send({ type: 'session.update', session: {} });
    expect((await respond())[0]?.type).toBe('response.created');
  });

  it('fails a response, and leaves usage out', async () => {
    api.faults.next({ kind: 'failed' });
    expect(endOf(await respond())).toMatchObject({ status: 'failed', output: [] });
    api.faults.next({ kind: 'no-usage' });
    expect(endOf(await respond())).toMatchObject({ status: 'completed', usage: null });
  });

  it('stops reading for a while, and then receives what was sent meanwhile', async () => {
    api.faults.next({ kind: 'stop-reading' }, 1, 'input_audio_buffer.clear');
    client.send({ type: 'input_audio_buffer.clear' });
    await api.until(() => api.eventCount === 1);
    client.send({ type: 'response.create' });
    api.sendToAll('{"type":"hello"}');
    expect(await client.next()).toEqual({ type: 'hello' });
    expect(api.eventCount).toBe(1);
    api.resumeReading();
    expect((await client.readUntil(is('response.done')))[0]?.type).toBe('response.created');
  });

  it('sends nothing when a client connects', async () => {
    api.faults.next({ kind: 'silent' }, 1, 'connect');
    const other = await connectSocket(`${api.url}/v1/realtime?model=m`, 'k');
    other.send({ type: 'input_audio_buffer.clear' });
    expect((await other.next()).type).toBe('input_audio_buffer.cleared');
  });
});
