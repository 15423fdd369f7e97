import * as fc from 'fast-check';
import { createAgentProtocol, type ParsedFrame } from './agent-protocol.ts';

const AGENT = '2f6d3c1e-0000-4000-8000-000000000001';
const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'Agent.Hello',
  params: { version: '1.0', gpus: [], models: [{ model_id: 'm', status: 'ready', port: 9000 }] },
};

const MANY_FIELDS = {
  ...HELLO.params,
  ...Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 0])),
};

function connection(deploying: readonly string[] = []) {
  const protocol = createAgentProtocol({
    agentId: AGENT,
    isDeploying: (streamId, modelId) => deploying.includes(`${streamId} ${modelId}`),
  });
  return (frame: unknown): ParsedFrame =>
    protocol.receive(typeof frame === 'string' ? frame : JSON.stringify(frame));
}

function greeted(deploying: readonly string[] = []) {
  const receive = connection(deploying);
  receive(HELLO);
  return receive;
}

test('the hello is the first frame and contains the GPUs and models', () => {
  expect(connection()(HELLO)).toEqual({
    kind: 'hello',
    id: 1,
    hello: {
      version: '1.0',
      gpus: [],
      models: [{ model_id: 'm', status: 'ready', port: 9000 }],
    },
  });
});

const notification = (method: string, params: unknown) => ({ jsonrpc: '2.0', method, params });

test.each([
  ['not JSON', '{', true, -32_700],
  ['not an object', '[]', true, -32_600],
  ['a batch', [HELLO], true, -32_600],
  ['of another protocol', { ...HELLO, jsonrpc: '1.0' }, true, -32_600],
  ['a heartbeat before the hello', notification('Agent.Heartbeat', {}), true, undefined],
  ['a response before the hello', { jsonrpc: '2.0', id: 1, result: {} }, true, undefined],
  ['a hello without an id', notification('Agent.Hello', HELLO.params), true, undefined],
  ['a hello without a version', { ...HELLO, params: {} }, true, -32_602],
  [
    'a hello with a host that is more than a host',
    { ...HELLO, params: { version: '1', host: 'http://10.0.0.1/x' } },
    true,
    -32_602,
  ],
  [
    'a hello with the id of another agent',
    { ...HELLO, params: { ...HELLO.params, agent_id: 'other' } },
    true,
    -32_600,
  ],
  ['a hello with many fields', { ...HELLO, params: MANY_FIELDS }, true, -32_600],
])('refused before the hello: %s', (_what, frame, isFatal, code) => {
  const parsed = connection()(frame);
  expect(parsed).toMatchObject({ kind: 'refused', isFatal });
  const reply: unknown = 'reply' in parsed ? JSON.parse(parsed.reply ?? 'null') : undefined;
  expect((reply as { error: { code: number } } | undefined)?.error.code).toBe(code);
});

test.each([
  ['an unknown method', { jsonrpc: '2.0', id: 5, method: 'Agent.Other' }, false],
  ['an unknown notification', notification('Agent.Other', {}), false],
  ['a second hello', HELLO, false],
  ['an invalid heartbeat', notification('Agent.Heartbeat', { gpus: 'many' }), false],
  ['a response to an unknown call', { jsonrpc: '2.0', id: 'text', result: {} }, false],
  [
    'a heartbeat with the id of another agent',
    notification('Agent.Heartbeat', { agent_id: 'other' }),
    true,
  ],
  [
    'the progress of a stream of another node',
    notification('Agent.Progress', {
      stream_id: 's2',
      model_id: 'm',
      status: 'pulling',
      progress: 1,
    }),
    false,
  ],
  [
    'the progress of another model',
    notification('Agent.Progress', {
      stream_id: 's1',
      model_id: 'n',
      status: 'pulling',
      progress: 1,
    }),
    false,
  ],
  [
    'a progress above 100',
    notification('Agent.Progress', {
      stream_id: 's1',
      model_id: 'm',
      status: 'pulling',
      progress: 101,
    }),
    false,
  ],
])('refused after the hello: %s', (_what, frame, isFatal) => {
  expect(greeted(['s1 m'])(frame)).toMatchObject({ kind: 'refused', isFatal });
});

test('a notification with an id gets a response, a result or an error', () => {
  const receive = greeted(['s1 m']);
  const progress = { stream_id: 's1', model_id: 'm', status: 'pulling', progress: 40 };
  const withId = (method: string, params: unknown) => ({
    jsonrpc: '2.0',
    id: 'h1',
    method,
    params,
  });
  for (const frame of [withId('Agent.Heartbeat', {}), withId('Agent.Progress', progress)]) {
    const { reply } = receive(frame) as { reply?: string };
    expect(JSON.parse(reply ?? '')).toEqual({ jsonrpc: '2.0', id: 'h1', result: { ok: true } });
  }
  for (const frame of [
    withId('Agent.Heartbeat', { gpus: 'many' }),
    withId('Agent.Progress', { ...progress, progress: 101 }),
  ]) {
    const { reply } = receive(frame) as { reply?: string };
    expect(JSON.parse(reply ?? '')).toMatchObject({ id: 'h1', error: { code: -32_602 } });
  }
});

test('heartbeats, progress of its own deployments and responses are accepted', () => {
  const receive = greeted(['s1 m']);
  expect(receive(notification('Agent.Heartbeat', { agent_id: AGENT, gpu_utilization: 5 }))).toEqual(
    {
      kind: 'heartbeat',
      heartbeat: { gpu_utilization: 5 },
    },
  );
  const progress = { stream_id: 's1', model_id: 'm', status: 'pulling', progress: 40 };
  expect(receive(notification('Agent.Progress', progress))).toEqual({ kind: 'progress', progress });
  expect(receive({ jsonrpc: '2.0', id: 3, result: { port: 1 } })).toEqual({
    kind: 'response',
    id: 3,
    outcome: { ok: true, result: { port: 1 } },
  });
  expect(receive({ jsonrpc: '2.0', id: 4, error: { code: 1, message: 'no space' } })).toEqual({
    kind: 'response',
    id: 4,
    outcome: { ok: false, message: 'no space' },
  });
});

test('a node that sends too many invalid frames is disconnected', () => {
  const receive = greeted();
  const unknown = notification('Agent.Other', {});
  const frames = Array.from({ length: 100 }, () => receive(unknown));
  expect(frames.map((frame) => 'isFatal' in frame && frame.isFatal).indexOf(true)).toBe(99);
});

test('every text gives a result', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.jsonValue().map((v) => JSON.stringify(v)),
      ),
      (text) => {
        expect(connection()(text).kind).toBe('refused');
      },
    ),
  );
});
