import { rpcCall } from '@model-gateway/testkit';
import {
  startChatUpstream,
  startEngine,
  startOllamaServer,
  type RunningChatUpstream,
  type RunningEngine,
  type RunningOllamaServer,
} from '@model-gateway/testkit/upstreams';
import { startChatScene, type ChatScene } from './chat-scene.ts';
import { openSocket } from '../rpc-server.ts';

let scene: ChatScene;
let engine: RunningEngine;
let chat: RunningChatUpstream;
let ollama: RunningOllamaServer;
beforeAll(async () => {
  scene = await startChatScene();
  engine = await startEngine({ models: ['robot', 'both'] });
  chat = await startChatUpstream({ models: ['words', 'both'] });
  ollama = await startOllamaServer({ models: ['llama'] });
  await scene.addBackend('chat', chat.url);
  await scene.addBackend('ollama', ollama.url, 'local-server');
  await scene.addBackend('eng', engine.url, 'engine');
});
afterAll(async () => {
  await scene.test.close();
  await Promise.all([engine.close(), chat.close(), ollama.close()]);
});
afterEach(() => engine.faults.clear());

const invoke = (params: object): Promise<unknown> =>
  scene.ann.call('engine.invoke', { model: 'robot', ...params });

test('the raw response of the engine is returned', async () => {
  expect(await invoke({ method: 'control.setpoint', params: { x: 1, y: [null, 'ü'] } })).toEqual({
    ok: true,
    sequence: 1,
    applied: { x: 1, y: [null, 'ü'] },
  });
  expect(engine.frames.at(-1)).toMatchObject({
    method: 'Engine.Invoke',
    params: { model: 'robot', method: 'control.setpoint', params: { x: 1, y: [null, 'ü'] } },
  });
  expect(await invoke({ method: 'anything' })).toEqual({
    method: 'anything',
    params: {},
    sequence: 2,
  });
  expect(await invoke({ model: 'both', method: 'anything' })).toMatchObject({ sequence: 3 });
});

test('many calls are in flight over one connection, each with its own response', async () => {
  const handshakes = engine.callsOf('Engine.Handshake');
  const socket = await openSocket(scene.url, scene.ann.token);
  const count = 200;
  for (let id = 0; id < count; id += 1) {
    const params = { model: 'robot', method: 'echo', params: { id } };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'engine.invoke', params }));
  }
  for (let answered = 0; answered < count; answered += 1) {
    const { id, result } = JSON.parse(await socket.next()) as { id: number; result: unknown };
    expect(result).toMatchObject({ method: 'echo', params: { id } });
  }
  expect(engine.callsOf('Engine.Handshake')).toBe(handshakes);
  expect(engine.openConnections).toBe(1);
  socket.socket.terminate();
});

test('a call without a response does not delay others', async () => {
  engine.faults.next({ kind: 'slow', delayMs: 300 }, 1, 'Engine.Invoke');
  const order: string[] = [];
  const slow = invoke({ method: 'slow' }).then(() => order.push('slow'));
  await engine.until(() => engine.frames.at(-1)?.params['method'] === 'slow');
  await invoke({ method: 'fast' }).then(() => order.push('fast'));
  await slow;
  expect(order).toEqual(['fast', 'slow']);
});

test('a lost connection fails every call in flight, and the next call reconnects', async () => {
  engine.faults.next({ kind: 'silent' }, 5, 'Engine.Invoke');
  const before = engine.callsOf('Engine.Invoke');
  const lost = Array.from({ length: 5 }, () =>
    scene.ann.refusal('engine.invoke', { model: 'robot', method: 'lost' }),
  );
  await engine.until(() => engine.callsOf('Engine.Invoke') === before + 5);
  const handshakes = engine.callsOf('Engine.Handshake');
  engine.dropConnections();
  for (const { code, message } of await Promise.all(lost)) {
    expect(code).toBe(-32_000);
    expect(message).toMatch(/closed the connection/);
  }
  // A call can have effects, so that none was sent again.
  expect(engine.callsOf('Engine.Invoke')).toBe(before + lost.length);
  // Five consecutive failures opened the circuit of the backend; registering it again closes it.
  await scene.addBackend('eng', engine.url, 'engine');
  expect(await invoke({ method: 'again' })).toMatchObject({ method: 'again' });
  expect(engine.callsOf('Engine.Handshake')).toBeGreaterThan(handshakes);
});

describe('refused', () => {
  test.each([
    {
      why: 'an OpenAI-compatible backend',
      params: { model: 'words', method: 'm' },
      message: "the backend of model 'words' does not support generic invocation",
    },
    {
      why: 'a local server',
      params: { model: 'llama', method: 'm' },
      message: "the backend of model 'llama' does not support generic invocation",
    },
    {
      why: 'a model without a backend',
      params: { model: 'unknown', method: 'm' },
      message: 'No backend available for model: unknown',
    },
  ])('$why', async ({ params, message }) => {
    expect(await scene.ann.refusal('engine.invoke', params)).toEqual({ code: -32_000, message });
  });

  test('a call that the engine refuses, with its message', async () => {
    const times = 5;
    engine.faults.next({ kind: 'error', message: 'joint 3 is locked' }, times, 'Engine.Invoke');
    for (let time = 0; time < times; time += 1) {
      expect(await scene.ann.refusal('engine.invoke', { model: 'robot', method: 'm' })).toEqual({
        code: -32_000,
        message: 'upstream -32000: joint 3 is locked',
      });
    }
    expect(await invoke({ method: 'm' })).toMatchObject({ method: 'm' });
  });

  test.each([
    { params: { model: 'robot' } },
    { params: { model: 'robot', method: '' } },
    { params: { method: 'm' } },
    { params: { model: 'robot', method: 'm', params: [1] } },
  ])('invalid params: $params', async ({ params }) => {
    expect(await scene.ann.refusal('engine.invoke', params)).toMatchObject({ code: -32_602 });
  });

  test('a user who is not an admin, and an anonymous caller', async () => {
    const params = { model: 'robot', method: 'm' };
    expect(await scene.bob.refusal('engine.invoke', params)).toMatchObject({ code: -32_007 });
    expect((await rpcCall(scene.url, 'engine.invoke', params)).error).toMatchObject({
      code: -32_005,
      message: 'authentication required',
    });
  });
});
