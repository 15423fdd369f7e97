import { createLog, sha256Hex } from '@model-gateway/kernel';
import { createTestContext, waitUntil, type TestContext } from '@model-gateway/testkit';
import { createAgentTunnel } from '../src/app.ts';
import { readAgentTunnelConfig } from '../src/config.ts';
import { connectAgent, openAgent } from './simulated-agent.ts';

let stores: TestContext;
let url = '';
let agentId = '';
const TOKEN = 'agt-test';
const logged: { msg: string; why?: string; level: string }[] = [];

beforeAll(async () => {
  stores = await createTestContext();
  const { context } = stores;
  const { id } = await context.database.agents.register({
    name: 'node',
    version: '1',
    tokenHash: sha256Hex(TOKEN),
    hosts: [],
  });
  agentId = id;
  const write = (line: string): void =>
    void logged.push(JSON.parse(line) as (typeof logged)[number]);
  const log = createLog({ level: 'info', app: 'test', destination: { write } });
  const config = readAgentTunnelConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  url = await stores.serve(createAgentTunnel(config, { ...context, log }));
});
afterAll(() => stores.close());

const refusals = (): readonly (string | undefined)[] =>
  logged.filter(({ msg }) => msg === 'refused a frame of an agent').map(({ why }) => why);

const HELLO = { jsonrpc: '2.0', id: 1, method: 'Agent.Hello', params: { version: '1' } };

test.each([
  ['malformed JSON', '{"jsonrpc"', 'the frame is not valid JSON', -32_700],
  ['something else than JSON-RPC', '42', 'the frame is not JSON-RPC 2.0', -32_600],
  [
    'a heartbeat before the hello',
    { ...HELLO, method: 'Agent.Heartbeat' },
    'frame before the hello',
    -32_600,
  ],
  [
    'an invalid hello',
    { ...HELLO, params: { version: 7 } },
    'invalid hello: version: Invalid input: expected string, received number',
    -32_602,
  ],
  [
    'a hello with the id of another agent',
    { ...HELLO, params: { version: '1', agent_id: 'other' } },
    'wrong agent_id',
    -32_600,
  ],
])('%s is refused, logged once and closes the connection', async (_what, frame, why, code) => {
  logged.length = 0;
  const agent = await openAgent(url, TOKEN);
  agent.send(frame);
  expect(await agent.closed).toEqual({ code: 1008, reason: why.slice(0, 120) });
  expect(agent.frames).toMatchObject([{ error: { code } }]);
  expect(refusals()).toEqual([why]);
});

test('an oversized frame closes the connection with 1009', async () => {
  logged.length = 0;
  const agent = await connectAgent(url, TOKEN);
  agent.send('x'.repeat(1024 * 1024 + 1));
  expect(await agent.closed).toMatchObject({ code: 1009 });
  expect(refusals()).toEqual(['frame too large']);
});

test('a node that sends no hello in time is disconnected', async () => {
  const agent = await openAgent(url, TOKEN);
  const openedAt = performance.now();
  expect(await agent.closed).toEqual({ code: 1008, reason: 'no hello within 5 seconds' });
  expect(performance.now() - openedAt).toBeGreaterThan(4_500);
});

test('unknown methods and foreign progress are refused and logged once; the connection stays open', async () => {
  logged.length = 0;
  const agent = await connectAgent(url, TOKEN);
  const foreign = { stream_id: 'other', model_id: 'm', status: 'pulling', progress: 1 };
  for (let round = 0; round < 5; round += 1) {
    agent.send({ jsonrpc: '2.0', id: `unknown ${round}`, method: 'Agent.Reboot' });
    agent.notify('Agent.Progress', foreign);
    agent.notify('Agent.Heartbeat', { gpus: 'none' });
    agent.send({ jsonrpc: '2.0', id: 99, result: {} });
  }
  await waitUntil(() => agent.frames.length === 6);
  expect(agent.frames.slice(1)).toEqual(
    Array.from({ length: 5 }, (_, round) => ({
      jsonrpc: '2.0',
      id: `unknown ${round}`,
      error: { code: -32_601, message: 'refused: unknown method' },
    })),
  );
  expect(refusals()).toEqual([
    'unknown method',
    'progress of an unknown deployment',
    'invalid heartbeat',
    'response to an unknown call',
  ]);
  expect(agent.socket.readyState).toBe(agent.socket.OPEN);
  agent.socket.close();
  await agent.closed;
});

test('binary frames that violate the tunnel protocol close the connection', async () => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from([3, 0, 0, 0, 9, 1]),
    Buffer.from([1, 0, 0, 0, 1]),
  ]) {
    const agent = await connectAgent(url, TOKEN);
    agent.socket.send(bytes);
    expect(await agent.closed).toMatchObject({ code: 1008 });
  }
  const unwelcomed = await openAgent(url, TOKEN);
  unwelcomed.socket.send(Buffer.from([3, 0, 0, 0, 1]));
  expect(await unwelcomed.closed).toEqual({ code: 1008, reason: 'frame before the hello' });
});

test('refused frames are counted, and no node stays connected', async () => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/^service_agent_frames_refused_total [1-9]\d*$/m);
  await waitUntil(
    async () => (await stores.context.database.agents.find(agentId))?.connectionId === null,
  );
});
