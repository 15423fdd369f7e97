import {
  createTestContext,
  createTestAccount,
  rpcCall,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import {
  startChatUpstream,
  startMemoryService,
  type RunningChatUpstream,
  type RunningMemoryService,
} from '@model-gateway/testkit/upstreams';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { openStream } from '../rpc-server.ts';
import { startGatedUpstream, type GatedUpstream } from './gated-upstream.ts';

// Long enough for a healthy service on a loaded machine.
const TIMEOUT_MS = 2_000;
const ADMIN_TOKEN = 'the admin token of this test';
const FAR_TOO_LATE_MS = 3_600_000;

let memory: RunningMemoryService;
let upstream: RunningChatUpstream;
let gated: GatedUpstream;
let booted: TestContext;
let url: string;
let token: string;
let userId: string;

beforeAll(async () => {
  memory = await startMemoryService();
  upstream = await startChatUpstream({ models: ['demo-chat'] });
  gated = await startGatedUpstream('gated-chat');
  booted = await createTestContext();
  for (const [model, { url: upstreamUrl }] of [
    ['demo-chat', upstream],
    ['gated-chat', gated],
  ] as const) {
    await booted.context.database.backendConfigs.save({
      name: model,
      type: 'external',
      url: upstreamUrl,
      apiKey: null,
      models: [model],
      capabilities: null,
    });
  }
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_MEMORY_URL: memory.url,
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_MEMORY_TIMEOUT_MS: `${TIMEOUT_MS}`,
  });
  url = await booted.serve(createRpc(config, booted.context));
  ({ id: userId, token } = await createTestAccount(booted.context, 'ann@example.com'));
});
afterAll(async () => {
  await booted.close();
  await upstream.close();
  await gated.close();
  await memory.close();
});
afterEach(async () => {
  memory.faults.clear();
  await memory.resume();
  await waitUntil(async () => (await send('ping')).state === 'enabled');
});

/** Sends a turn; returns the state of memory and the messages that the model got. */
async function send(content: string, more: object = {}) {
  const before = upstream.requestCount;
  const params = { model: 'demo-chat', messages: [{ role: 'user', content }], ...more };
  const { result } = await rpcCall(url, 'chat.send', params, token);
  await upstream.until(() => upstream.requestCount > before);
  const body = upstream.lastRequest?.body as { readonly messages: unknown } | undefined;
  return { state: (result as { memory: string }).memory, messages: body?.messages };
}
const userMessage = (content: string) => ({ role: 'user', content });

test('a turn contains recalled memories, and is remembered itself', async () => {
  memory.remember(userId, 'Their cat is called Tom');
  const question = 'How is my cat?';
  const { state, messages } = await send(question);
  expect(state).toBe('enabled');
  expect(messages).toEqual([
    { role: 'system', content: expect.stringMatching(/\n- Their cat is called Tom$/) },
    userMessage(question),
  ]);
  await memory.until(() => memory.nodes.some(({ text }) => text === question));
});

test('a turn with memory: false does not use it', async () => {
  const before = memory.callsOf('Memory.Recall');
  const { state, messages } = await send('My secret cat', { memory: false });
  expect(state).toBe('disabled');
  expect(messages).toEqual([userMessage('My secret cat')]);
  expect(memory.callsOf('Memory.Recall')).toBe(before);
});

test('a turn that ends after its user was erased is not remembered', async () => {
  const erased = await createTestAccount(booted.context, 'erased@example.com');
  const params = { model: 'gated-chat', messages: [userMessage('I live in Oslo')] };
  const { result } = await rpcCall(url, 'chat.send', params, erased.token);
  const { stream_id } = result as { readonly stream_id: string };
  const stream = await openStream(`${url}/api/rpc/events?session=${stream_id}`);
  const erasing = await rpcCall(url, 'users.erase', { user_id: erased.id }, ADMIN_TOKEN);
  expect(erasing.result).toEqual({ ok: true, memory: 'removed' });
  gated.open();
  while (!(await stream.next()).includes('"is_complete":true'));
  stream.close();
  // The write-back of a later turn comes after it.
  await send('After the erased turn');
  await memory.until(() => memory.nodes.some(({ text }) => text === 'After the erased turn'));
  expect(memory.nodes.filter(({ user_id }) => user_id === erased.id)).toEqual([]);
  const events = await booted.context.database.memoryEvents.newest(erased.id, 50);
  expect(events).toEqual([]);
});

const faults = {
  slow: () => memory.faults.always({ kind: 'slow', delayMs: FAR_TOO_LATE_MS }),
  silent: () => memory.faults.always({ kind: 'silent' }),
  garbage: () => memory.faults.always({ kind: 'garbage' }),
  'closing mid-call': () => memory.faults.always({ kind: 'close' }),
  'returning errors': () => memory.faults.always({ kind: 'error' }),
  dead: () => memory.refuse(),
};

test.each(Object.entries(faults))(
  'while the service is %s, turns are offline and do not wait for it',
  async (_name, fail) => {
    await fail();
    for (let turn = 0; turn < 2; turn += 1) {
      const { state, messages } = await send('How is my cat?');
      expect(state).toBe('offline');
      expect(messages).toEqual([userMessage('How is my cat?')]);
    }
  },
);
