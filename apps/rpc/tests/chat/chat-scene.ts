import type { RpcNotificationParams, UsageEvent } from '@model-gateway/contracts';
import type { AppContext } from '@model-gateway/server-process';
import { createServiceRuntime, type ServiceRuntime } from '@model-gateway/service';
import {
  createTestContext,
  createTestAccount,
  rpcCall,
  usageEventsIn,
  type TestContext,
} from '@model-gateway/testkit';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { openStream, type TestStream } from '../rpc-server.ts';

/** The params of one notification of a chat stream. */
export type ChatNotification = RpcNotificationParams<'chat.stream'>;

/** A management plane that can serve models, with an account. */
export interface ChatScene {
  readonly url: string;
  readonly test: TestContext;
  readonly runtime: ServiceRuntime;
  readonly ann: TestUser;
  readonly bob: TestUser;
  createUser(name: string): Promise<TestUser>;
  addBackend(name: string, url: string, type?: string, models?: readonly string[]): Promise<void>;
  removeBackend(name: string): Promise<boolean>;
  /** Sends a turn, subscribes immediately, and returns all notifications of the stream. */
  ask(params: object, user?: TestUser): Promise<readonly ChatNotification[]>;
  send(
    params: object,
    user?: TestUser,
  ): Promise<{ readonly stream_id: string; readonly memory: string }>;
  conversation(params?: object, user?: TestUser): Promise<string>;
  messages(id: string, user?: TestUser): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The usage since the last call. */
  usage(): Promise<readonly UsageEvent[]>;
}

export interface TestUser {
  readonly id: string;
  readonly token: string;
  call(method: string, params?: object): Promise<unknown>;
  refusal(
    method: string,
    params?: object,
  ): Promise<{ readonly code: number; readonly message: string }>;
}

export async function startChatScene(
  env: Readonly<Record<string, string>> = {},
  changes: Partial<AppContext> = {},
  stores: Parameters<typeof createTestContext>[0] = {},
): Promise<ChatScene> {
  const test = await createTestContext(stores);
  const context = { ...test.context, ...changes };
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    ...env,
  });
  const runtime = createServiceRuntime(config, context);
  const rpc = createRpc(config, context, { runtime });
  const url = await test.serve({
    ...rpc,
    start: async () => {
      await runtime.start();
      await rpc.start();
    },
    stop: async () => {
      await rpc.stop();
      await runtime.stop();
    },
  });
  const createUser = async (name: string): Promise<TestUser> =>
    userOf(url, await createTestAccount(context, `${name}@example.com`));
  const [ann, bob] = [await createUser('ann'), await createUser('bob')];
  const send: ChatScene['send'] = async (params, user = ann) =>
    (await user.call('chat.send', { model: 'm', ...params })) as Awaited<
      ReturnType<ChatScene['send']>
    >;
  return {
    url,
    test,
    runtime,
    ann,
    bob,
    createUser,
    async addBackend(name, backendUrl, type = 'external', models = []) {
      const backend = { name, type, url: backendUrl, apiKey: null, models, capabilities: null };
      await runtime.router.registry.register(backend);
    },
    removeBackend: (name) => runtime.router.registry.remove(name),
    send,
    async ask(params, user) {
      const { stream_id } = await send(params, user);
      return readToEnd(await openStream(eventsUrl(url, stream_id)));
    },
    async conversation(params = {}, user = ann) {
      return ((await user.call('conversations.create', params)) as { id: string }).id;
    },
    async messages(id, user = ann) {
      const found = await user.call('conversations.get', { id });
      return (found as { messages: Record<string, unknown>[] }).messages;
    },
    usage: () => takeUsage(context),
  };
}

export const eventsUrl = (url: string, streamId: string): string =>
  `${url}/api/rpc/events?session=${encodeURIComponent(streamId)}`;

/** All notifications of a chat stream up to its end; fails when more follow. */
export async function readToEnd(stream: TestStream): Promise<readonly ChatNotification[]> {
  const received: ChatNotification[] = [];
  for (;;) {
    const line = await stream.next();
    if (line.startsWith(':')) continue;
    const { method, params } = JSON.parse(line.slice('data: '.length)) as {
      method: string;
      params: ChatNotification;
    };
    expect(method).toBe('chat.stream');
    received.push(params);
    if (params.is_complete) break;
  }
  stream.close();
  return received;
}

/** The text of a response, joined from its tokens. */
export const textOf = (received: readonly ChatNotification[]): string =>
  received.map((one) => ('error' in one ? '' : one.token)).join('');

/** A message of a user. */
export const userMessage = (content: string) => ({ messages: [{ role: 'user', content }] });

/** Signs in to a management plane in another process, with an account that `insertAccount` made. */
export async function signIn(url: string, email: string): Promise<TestUser> {
  const { result } = await rpcCall(url, 'auth.login', { email, password: 'long enough' });
  const { access_token: token, user } = result as { access_token: string; user: { id: string } };
  return userOf(url, { id: user.id, token });
}

function userOf(url: string, { id, token }: Pick<TestUser, 'id' | 'token'>): TestUser {
  return {
    id,
    token,
    async call(method, of = {}) {
      const response = await rpcCall(url, method, of, token);
      if (response.error !== undefined) throw new Error(JSON.stringify(response.error));
      return response.result;
    },
    async refusal(method, of = {}) {
      const { error, result: unexpected } = await rpcCall(url, method, of, token);
      if (error === undefined) throw new Error(`not refused: ${JSON.stringify(unexpected)}`);
      return { code: error.code, message: error.message };
    },
  };
}

const taken = new Set<string>();

async function takeUsage({ bus }: AppContext): Promise<readonly UsageEvent[]> {
  const { journal } = bus;
  const events: UsageEvent[] = [];
  const drained = new AbortController();
  const draining = journal.drain(
    async (batch) => {
      events.push(...usageEventsIn(batch));
    },
    { batchSize: 100, signal: drained.signal },
  );
  while ((await journal.lag()) > 0) await new Promise(setImmediate);
  drained.abort();
  await draining;
  // An event whose receipt could not be confirmed in time comes again.
  return events.filter(({ id }) => !taken.has(id) && taken.add(id));
}
