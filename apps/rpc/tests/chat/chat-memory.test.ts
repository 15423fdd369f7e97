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

// Long enough for a healthy service on a loaded machine.
const TIMEOUT_MS = 2_000;
const FAR_TOO_LATE_MS = 3_600_000;

let memory: RunningMemoryService;
let upstream: RunningChatUpstream;
let booted: TestContext;
let url: string;
let token: string;
let userId: string;

beforeAll(async () => {
  memory = await startMemoryService();
  upstream = await startChatUpstream({ models: ['demo-chat'] });
  booted = await createTestContext();
  await booted.context.database.backendConfigs.save({
    name: 'up',
    type: 'external',
    url: upstream.url,
    apiKey: null,
    models: ['demo-chat'],
    capabilities: null,
  });
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_MEMORY_URL: memory.url,
    SERVICE_MEMORY_TIMEOUT_MS: `${TIMEOUT_MS}`,
  });
  url = await booted.serve(createRpc(config, booted.context));
  ({ id: userId, token } = await createTestAccount(booted.context, 'ann@example.com'));
});
afterAll(async () => {
  await booted.close();
  await upstream.close();
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
