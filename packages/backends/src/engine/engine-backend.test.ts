import { chatTurn } from '@model-gateway/dialects';
import type { UpstreamChat } from '@model-gateway/contracts';
import { systemClock } from '@model-gateway/kernel';
import type { Backend } from '@model-gateway/router';
import {
  startEngine,
  type EngineFault,
  type EngineOptions,
  type RunningEngine,
} from '@model-gateway/testkit/upstreams';
import { completionIn, readAll, startChunks, textOf, type Chunk } from '../../tests/read-chunks.ts';
import { createBackend } from '../factory/create-backend.ts';

const timeouts = { connectMs: 30_000, idleMs: 2_000, totalMs: 3_000 };
const signal = new AbortController().signal;

let engine: RunningEngine;
let backend: Backend;
beforeEach(() => use({}));
afterEach(async () => {
  await backend.close();
  await engine.close();
});

async function use(options: EngineOptions): Promise<void> {
  engine = await startEngine({ answer: () => 'one two three', ...options });
  backend = backendAt(engine.url);
}
async function useInstead(options: EngineOptions): Promise<void> {
  await backend.close();
  await engine.close();
  await use(options);
}
function backendAt(
  url: string,
  more: { apiKey?: string; models?: readonly string[] } = {},
): Backend {
  const { apiKey = null, models = [] } = more;
  const config = { name: 'eng', type: 'candle', url, apiKey, models, capabilities: null };
  return createBackend(config, { timeouts, clock: systemClock });
}
const chatBody = (content = 'hello there'): UpstreamChat => ({
  model: 'demo-engine',
  messages: [{ role: 'user', content }],
});
const chat = () =>
  backend.chat?.(chatTurn(chatBody()), signal) ?? Promise.reject(new Error('no chat'));
const start = (body = chatBody(), abort = signal): Promise<AsyncIterable<Chunk>> =>
  startChunks(backend, chatTurn(body), abort);

describe('an engine', () => {
  it('is connected to by the first call, with one handshake for many calls', async () => {
    expect(engine.callsOf('Engine.Handshake')).toBe(0);
    expect([...backend.capabilities()]).toEqual([]);
    expect(await backend.probe(signal)).toEqual({ state: 'Healthy', models: ['demo-engine'] });
    await Promise.all([chat(), chat(), start().then(readAll)]);
    expect(engine.callsOf('Engine.Handshake')).toBe(1);
    expect(engine.frames[0]?.params).toMatchObject({
      protocol: 1,
      client: { name: 'model-gateway' },
    });
    expect([...backend.capabilities()]).toEqual(['chat', 'embeddings', 'realtime', 'invoke']);
  });

  it('declares what it can do, under names that are known', async () => {
    // There is no call for video jobs, so an engine that declares video would never get one done.
    const capabilities = ['embedding', 'chat', 'video', 'telepathy', 'toString'];
    await useInstead({ capabilities, modalities: ['text'] });
    await backend.probe(signal);
    expect([...backend.capabilities()]).toEqual(['embeddings', 'chat']);
  });

  it('supports realtime when it declares that, or audio or video input', async () => {
    for (const declared of [
      { capabilities: ['realtime'], modalities: ['text'] },
      { capabilities: [], modalities: ['text', 'audio'] },
      { capabilities: [], modalities: ['video'] },
    ]) {
      await useInstead(declared);
      await backend.probe(signal);
      expect([...backend.capabilities()]).toEqual(['realtime']);
    }
  });

  it('serves static models after those it lists, and is sent its key', async () => {
    await useInstead({ token: 'secret' });
    const keyed = backendAt(engine.url, { apiKey: 'secret', models: ['extra', 'demo-engine'] });
    expect(await keyed.probe(signal)).toEqual({
      state: 'Healthy',
      models: ['demo-engine', 'extra'],
    });
    await keyed.close();
    expect(await backend.probe(signal)).toMatchObject({
      state: 'Degraded',
      reason: expect.stringContaining('upstream 401'),
    });
  });

  it('answers whole', async () => {
    expect(completionIn(await chat())).toMatchObject({
      object: 'chat.completion',
      model: 'demo-engine',
      choices: [
        { message: { role: 'assistant', content: 'one two three' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    });
  });

  it('gets the fields of a chat, except those about streaming', async () => {
    const more = { temperature: 0.5, stream: true, stream_options: { include_usage: true } };
    await readAll(await start({ ...chatBody(), ...more }));
    expect(engine.frames.at(-1)?.params).toEqual({ ...chatBody(), temperature: 0.5 });
  });

  it('streams, and reports the usage at the end', async () => {
    const chunks = await readAll(await start());
    expect(chunks[0]).toMatchObject({
      choices: [{ delta: { role: 'assistant', content: 'one' } }],
    });
    expect(textOf(chunks)).toBe('one two three');
    expect(chunks.slice(-2)).toMatchObject([
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } },
    ]);
    expect(engine.callsOf('Engine.ChatCancel')).toBe(0);
  });

  it('streams many chats at once, each to its own reader', async () => {
    await useInstead({
      answer: ({ messages }) => `echo ${messages.at(-1)?.text}`,
      tokenDelayMs: 1,
    });
    const names = ['a', 'b', 'c', 'd'];
    const texts = names.map(async (name) => textOf(await readAll(await start(chatBody(name)))));
    expect(await Promise.all(texts)).toEqual(names.map((name) => `echo ${name}`));
    expect(engine.callsOf('Engine.Handshake')).toBe(1);
  });

  it('embeds, and is invoked', async () => {
    const model = 'demo-engine';
    expect(await backend.embed?.({ model, input: ['a', 'b c'] }, signal)).toMatchObject({
      model,
      promptTokens: 3,
      vectors: [expect.any(Array), expect.any(Array)],
    });
    expect(await backend.invoke?.(model, 'control.setpoint', { x: 1 }, signal)).toEqual({
      ok: true,
      sequence: 1,
      applied: { x: 1 },
    });
  });
});

describe('a stream of an engine is cancelled', () => {
  beforeEach(() => useInstead({ tokenDelayMs: 20 }));

  it('when its reader stops', async () => {
    for await (const chunk of await start()) if (chunk['choices'] !== undefined) break;
    await engine.until(() => engine.aborted === 1);
    expect(engine.callsOf('Engine.ChatCancel')).toBe(1);
    expect(await chat()).toBeDefined();
    expect(engine.callsOf('Engine.Handshake')).toBe(1);
  });

  it('when its reader leaves before reading anything', async () => {
    await (await start())[Symbol.asyncIterator]().return?.();
    await engine.until(() => engine.aborted === 1);
  });

  it('when its caller leaves', async () => {
    const controller = new AbortController();
    const reading = readAll(await start(chatBody(), controller.signal));
    controller.abort(new Error('client left'));
    await expect(reading).rejects.toThrow('client left');
    await engine.until(() => engine.aborted === 1);
  });

  it('when its caller left before the engine had begun', async () => {
    await backend.probe(signal);
    const controller = new AbortController();
    engine.faults.next({ kind: 'slow', delayMs: 30 });
    const starting = start(chatBody(), controller.signal);
    await engine.until(() => engine.callsOf('Engine.ChatStart') === 1);
    controller.abort(new Error('client left'));
    await expect(starting).rejects.toThrow('client left');
    await engine.until(() => engine.aborted === 1);
  });
});

describe('an engine that fails', () => {
  const failure = { code: 'bad_gateway', isBackendAtFault: true };

  it.each<EngineFault>([
    { kind: 'close' },
    { kind: 'garbage' },
    { kind: 'silent' },
    { kind: 'error', message: 'no memory' },
  ])('fails the call with %j, and serves the next one on a new connection', async (fault) => {
    engine.faults.next(fault);
    await expect(chat()).rejects.toMatchObject(failure);
    expect(await chat()).toBeDefined();
    expect(engine.callsOf('Engine.Handshake')).toBe(2);
  });

  it('continues a stream when another call is refused', async () => {
    await useInstead({ tokenDelayMs: 50 });
    const stream = (await start())[Symbol.asyncIterator]();
    const first = await stream.next();
    engine.faults.next({ kind: 'error', message: 'no memory' }, 1, 'Engine.Chat');
    await expect(chat()).rejects.toMatchObject(failure);
    const rest: Chunk[] = first.done === true ? [] : [first.value];
    for (let next = await stream.next(); next.done !== true; next = await stream.next()) {
      rest.push(next.value);
    }
    expect(textOf(rest)).toBe('one two three');
    expect(engine.callsOf('Engine.Handshake')).toBe(1);
    await chat();
    expect(engine.callsOf('Engine.Handshake')).toBe(2);
  });

  it.each<EngineFault>([
    { kind: 'cut', afterChunks: 0 },
    { kind: 'garbage-chunk', afterChunks: 0 },
    { kind: 'stall', afterChunks: 0 },
    { kind: 'error' },
  ])('begins no stream with %j', async (fault) => {
    engine.faults.next(fault);
    await expect(start()).rejects.toMatchObject(failure);
    expect(textOf(await readAll(await start()))).toBe('one two three');
  });

  it.each<EngineFault>([
    { kind: 'cut', afterChunks: 2 },
    { kind: 'garbage-chunk', afterChunks: 2 },
    { kind: 'stall', afterChunks: 2 },
  ])('ends a stream with %j after what came before it', async (fault) => {
    engine.faults.next(fault);
    const seen: Chunk[] = [];
    const reading = (async () => {
      for await (const chunk of await start()) seen.push(chunk);
    })();
    await expect(reading).rejects.toMatchObject(failure);
    expect(textOf(seen)).toBe('one two');
    expect(textOf(await readAll(await start()))).toBe('one two three');
    expect(engine.callsOf('Engine.Handshake')).toBe(2);
  });

  it('fails every call under way when the connection is lost', async () => {
    engine.faults.next({ kind: 'silent' }, 3);
    const calls = [chat(), chat(), chat()];
    await engine.until(() => engine.callsOf('Engine.Chat') === 3);
    engine.dropConnections();
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: failure });
    }
  });

  it('lets other calls finish when one of them is never answered', async () => {
    await useInstead({ tokenDelayMs: 150 });
    engine.faults.next({ kind: 'silent' }, 1, 'Engine.Chat');
    const streaming = start().then(readAll);
    await expect(chat()).rejects.toThrow('sent nothing for 3000 ms');
    expect(textOf(await streaming)).toBe('one two three');
    await chat();
    expect(engine.callsOf('Engine.Handshake')).toBe(2);
  });

  it('refuses a request: the backend is not at fault', async () => {
    const nothing = backend.chat?.(chatTurn({ model: 'demo-engine', messages: [] }), signal);
    await expect(nothing).rejects.toMatchObject({
      isBackendAtFault: false,
      message: "upstream -32602: Missing required parameter: 'messages'.",
    });
  });

  it('is not at fault when a method returns an error', async () => {
    engine.faults.next({ kind: 'error', message: 'joint 3 is locked' }, 1, 'Engine.Invoke');
    await expect(backend.invoke?.('demo-engine', 'move', {}, signal)).rejects.toMatchObject({
      message: 'upstream -32000: joint 3 is locked',
      isBackendAtFault: false,
    });
  });

  it('is Degraded when it answers badly, Unhealthy when not at all', async () => {
    engine.faults.next({ kind: 'error', message: 'starting' }, 1, 'Engine.Handshake');
    expect(await backend.probe(signal)).toMatchObject({
      state: 'Degraded',
      reason: 'upstream -32000: starting',
    });
    engine.faults.next({ kind: 'silent' }, 1, 'Engine.Handshake');
    await expect(backend.probe(AbortSignal.timeout(50))).rejects.toThrow('timeout');
    await engine.until(() => engine.callsOf('Engine.Handshake') === 2);
    await engine.refuse();
    await expect(backend.probe(signal)).rejects.toMatchObject(failure);
    await engine.resume();
    expect(await backend.probe(signal)).toMatchObject({ state: 'Healthy' });
  });

  it('serves nothing after it was closed', async () => {
    await chat();
    await backend.close();
    await expect(chat()).rejects.toThrow('the backend was closed');
  });
});
