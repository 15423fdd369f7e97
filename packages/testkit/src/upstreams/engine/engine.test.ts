import { asList, asObject, type JsonObject } from '@model-gateway/demo-model/answers';
import { connectSocket, type SocketClient } from '../wire/socket-client.ts';
import { startEngine, type RunningEngine } from './engine.ts';

const handshake = { protocol: 1, client: { name: 'test', version: '1' } };
const turn = { model: 'demo-engine', messages: [{ role: 'user', content: 'hello there' }] };
const isDone = (frame: JsonObject): boolean => asObject(frame.params).done === true;

let engine: RunningEngine;
let client: SocketClient;
beforeEach(async () => {
  engine = await startEngine({ answer: () => 'one two three' });
  client = await connectSocket(engine.url);
  await client.call('Engine.Handshake', handshake);
});
afterEach(() => engine.close());

describe('the engine', () => {
  it('describes itself in the handshake, and requires it first', async () => {
    const stranger = await connectSocket(engine.url);
    expect((await stranger.call('Engine.Models')).error).toMatchObject({
      message: 'handshake first',
    });
    expect((await stranger.call('Engine.Handshake', { protocol: 2 })).error).toBeDefined();
    expect((await stranger.call('Engine.Handshake', handshake)).result).toEqual({
      engine: { name: 'demo-engine', version: '1.0.0' },
      capabilities: ['chat', 'embeddings', 'realtime', 'invoke'],
      modalities: ['text', 'audio', 'video'],
      models: ['demo-engine'],
    });
    expect((await stranger.call('Engine.Models')).result).toEqual({ models: ['demo-engine'] });
  });

  it('answers a chat whole', async () => {
    expect((await client.call('Engine.Chat', turn)).result).toEqual({
      message: { role: 'assistant', content: 'one two three' },
      finish_reason: 'stop',
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    });
    expect(engine.totals).toMatchObject({ completed: 1, completionTokens: 3 });
  });

  it('streams a chat as notifications after the answer', async () => {
    const { result } = await client.call('Engine.ChatStart', turn);
    const frames = await client.readUntil(isDone);
    expect(frames.map((frame) => frame.method)).toEqual(Array(4).fill('Engine.ChatChunk'));
    const chunks = frames.map((frame) => asObject(frame.params));
    expect(chunks.map((chunk) => chunk.delta)).toEqual(['one', ' two', ' three', '']);
    expect(new Set(chunks.map((chunk) => chunk.chat_id))).toEqual(
      new Set([asObject(result).chat_id]),
    );
    expect(chunks.at(-1)).toMatchObject({ finish_reason: 'stop', usage: { total_tokens: 5 } });
  });

  it('streams tool calls in pieces', async () => {
    await client.call('Engine.ChatStart', {
      ...turn,
      messages: [{ role: 'user', content: 'call look {"at":"the sky"}' }],
      tools: [{ type: 'function', function: { name: 'look' } }],
    });
    const chunks = (await client.readUntil(isDone)).map((frame) => asObject(frame.params));
    const calls = chunks.flatMap((chunk) => asList(chunk.tool_calls).map(asObject));
    expect(calls[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'look' } });
    expect(calls.map((call) => asObject(call.function).arguments).join('')).toBe(
      '{"at":"the sky"}',
    );
    expect(chunks.at(-1)).toMatchObject({ finish_reason: 'tool_calls' });
  });

  it('embeds, and refuses a model it does not have', async () => {
    const embedded = await client.call('Engine.Embeddings', {
      model: 'demo-engine',
      input: ['a', 'b c'],
    });
    expect(asList(asObject(embedded.result).data)).toHaveLength(2);
    expect(asObject(embedded.result).usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    const refused = await client.call('Engine.Chat', { ...turn, model: 'other' });
    expect(refused.error).toMatchObject({ message: 'unknown model: other' });
  });

  it('takes sensor readings and setpoints, and echoes other invocations', async () => {
    const invoke = async (method: string, params: unknown): Promise<unknown> =>
      (await client.call('Engine.Invoke', { model: 'demo-engine', method, params })).result;
    expect(await invoke('control.setpoint', { x: 1 })).toEqual({
      ok: true,
      sequence: 1,
      applied: { x: 1 },
    });
    expect(await invoke('sensor.ingest', { readings: [1, 2] })).toEqual({
      ok: true,
      sequence: 2,
      accepted: 2,
      setpoint: { x: 1 },
    });
    expect(await invoke('other', [7])).toEqual({ method: 'other', params: [7], sequence: 3 });
  });

  it('holds a realtime session until it is stopped', async () => {
    const config = { modalities: ['text'] };
    const started = await client.call('Engine.RealtimeStart', { model: 'demo-engine', config });
    const { session } = asObject(started.result);
    const eventOf = (frame: JsonObject): JsonObject => asObject(asObject(frame.params).event);
    const opened = await client.readUntil((frame) => eventOf(frame).type === 'session.updated');
    expect(eventOf(opened[0] ?? {}).type).toBe('session.created');
    client.send({
      jsonrpc: '2.0',
      method: 'Engine.RealtimeEvent',
      params: { session, event: { type: 'response.create' } },
    });
    const frames = await client.readUntil((frame) => eventOf(frame).type === 'response.done');
    expect(frames.map((frame) => eventOf(frame).type)).toContain('response.text.delta');
    expect((await client.call('Engine.RealtimeStop', { session })).result).toEqual({ ok: true });
    const gone = await client.call('Engine.RealtimeEvent', { session, event: {} });
    expect(gone.error).toMatchObject({ message: 'session not found' });
    expect(engine.openSessions).toBe(0);
  });

  it('ends a realtime session and notifies the client', async () => {
    const started = await client.call('Engine.RealtimeStart', { model: 'demo-engine' });
    expect(engine.openSessions).toBe(1);
    engine.endSessions();
    const frames = await client.readUntil((frame) => frame.method === 'Engine.RealtimeStop');
    expect(frames.at(-1)?.params).toEqual(started.result);
    expect(engine.openSessions).toBe(0);
  });
});

describe('faults of the engine', () => {
  it('does not answer the handshake', async () => {
    engine.faults.next({ kind: 'silent' }, 1, 'Engine.Handshake');
    const other = await connectSocket(engine.url);
    other.send({ jsonrpc: '2.0', id: 1, method: 'Engine.Handshake', params: handshake });
    await engine.until(() => engine.callsOf('Engine.Handshake') === 2);
    expect((await other.call('Engine.Models')).error).toBeDefined();
  });

  it('answers an error, closes, or sends garbage instead of an answer', async () => {
    engine.faults.next({ kind: 'error', message: 'out of memory' });
    expect((await client.call('Engine.Chat', turn)).error).toMatchObject({
      message: 'out of memory',
    });
    engine.faults.next({ kind: 'garbage' });
    client.send({ jsonrpc: '2.0', id: 'x', method: 'Engine.Chat', params: turn });
    expect(await client.next()).toHaveProperty('raw');
    engine.faults.next({ kind: 'close' });
    client.send({ jsonrpc: '2.0', id: 'y', method: 'Engine.Chat', params: turn });
    expect(await client.closed).toBe(1006);
  });

  it('cuts a stream and counts what went out', async () => {
    engine.faults.next({ kind: 'cut', afterChunks: 2 });
    await client.call('Engine.ChatStart', turn);
    await client.closed;
    expect(engine.served[0]).toMatchObject({ completionTokens: 2, completed: false });
  });

  it('sends garbage in a stream and continues, and omits usage', async () => {
    engine.faults.always({ kind: 'no-usage' });
    engine.faults.next({ kind: 'garbage-chunk', afterChunks: 1 });
    await client.call('Engine.ChatStart', turn);
    const frames = await client.readUntil(isDone);
    expect(frames.map((frame) => 'raw' in frame)).toEqual([false, true, false, false, false]);
    expect(frames.at(-1)?.params).not.toHaveProperty('usage');
  });

  it('stops a stalled stream that is cancelled or abandoned', async () => {
    engine.faults.next({ kind: 'stall', afterChunks: 1 }, 2);
    const { result } = await client.call('Engine.ChatStart', turn);
    const { chat_id } = asObject(result);
    await client.next();
    expect((await client.call('Engine.ChatCancel', { chat_id })).result).toEqual({
      cancelled: true,
    });
    await engine.until(() => engine.aborted === 1);
    await client.call('Engine.ChatStart', turn);
    client.close();
    await engine.until(() => engine.served.length === 2);
    expect(engine.aborted).toBe(2);
    expect(engine.totals).toMatchObject({ completed: 0, completionTokens: 2 });
  });
});
