import {
  usageEventSchema,
  type RpcNotificationParams,
  type UsageEvent,
} from '@model-gateway/contracts';
import type { AppContext } from '@model-gateway/server-process';
import { createInferenceRuntime, type InferenceRuntime } from '@model-gateway/inference-runtime';
import { createTestContext, rpcCall, type TestContext } from '@model-gateway/testkit';
import { createRpc } from '../src/app.ts';
import { readRpcConfig } from '../src/config.ts';
import { openStream, type TestStream } from './rpc-server.ts';

/** What one notification of a chat stream says. */
export type ChatNotification = RpcNotificationParams<'chat.stream'>;

/** A management plane that can serve models, with an account. */
export interface ChatScene {
  readonly url: string;
  readonly test: TestContext;
  readonly runtime: InferenceRuntime;
  readonly ann: Person;
  readonly bob: Person;
  addBackend(name: string, url: string, type?: string, models?: readonly string[]): Promise<void>;
  removeBackend(name: string): Promise<boolean>;
  /** Sends a turn, listens at once, and answers everything that the stream said. */
  ask(params: object, person?: Person): Promise<readonly ChatNotification[]>;
  send(
    params: object,
    person?: Person,
  ): Promise<{ readonly stream_id: string; readonly memory: string }>;
  conversation(params?: object, person?: Person): Promise<string>;
  messages(id: string, person?: Person): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** What was metered since the last time it was asked for. */
  usage(): Promise<readonly UsageEvent[]>;
}

export interface Person {
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
): Promise<ChatScene> {
  const test = await createTestContext();
  const context = { ...test.context, ...changes };
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    ...env,
  });
  const runtime = createInferenceRuntime(config, context);
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
  const [ann, bob] = [await register(url, 'ann'), await register(url, 'bob')];
  const send: ChatScene['send'] = async (params, person = ann) =>
    (await person.call('chat.send', { model: 'm', ...params })) as Awaited<
      ReturnType<ChatScene['send']>
    >;
  return {
    url,
    test,
    runtime,
    ann,
    bob,
    async addBackend(name, backendUrl, type = 'external', models = []) {
      const backend = { name, type, url: backendUrl, apiKey: null, models, capabilities: null };
      await runtime.router.registry.register(backend);
    },
    removeBackend: (name) => runtime.router.registry.remove(name),
    send,
    async ask(params, person) {
      const { stream_id } = await send(params, person);
      return readToEnd(await openStream(eventsUrl(url, stream_id)));
    },
    async conversation(params = {}, person = ann) {
      return ((await person.call('conversations.create', params)) as { id: string }).id;
    },
    async messages(id, person = ann) {
      const found = await person.call('conversations.get', { id });
      return (found as { messages: Record<string, unknown>[] }).messages;
    },
    usage: () => takeUsage(context),
  };
}

export const eventsUrl = (url: string, streamId: string): string =>
  `${url}/api/rpc/events?session=${encodeURIComponent(streamId)}`;

/** Everything that a chat stream says up to its end, and that nothing comes after it. */
export async function readToEnd(stream: TestStream): Promise<readonly ChatNotification[]> {
  const said: ChatNotification[] = [];
  for (;;) {
    const line = await stream.next();
    if (line.startsWith(':')) continue;
    const { method, params } = JSON.parse(line.slice('data: '.length)) as {
      method: string;
      params: ChatNotification;
    };
    expect(method).toBe('chat.stream');
    said.push(params);
    if (params.is_complete) break;
  }
  stream.close();
  return said;
}

/** The text of an answer, out of its pieces. */
export const textOf = (said: readonly ChatNotification[]): string =>
  said.map((one) => ('error' in one ? '' : one.token)).join('');

/** A message of a user. */
export const saying = (content: string) => ({ messages: [{ role: 'user', content }] });

export async function register(url: string, name: string): Promise<Person> {
  const params = { email: `${name}@example.com`, password: 'long enough' };
  const { result } = await rpcCall(url, 'auth.register', params);
  const { access_token: token, user } = result as { access_token: string; user: { id: string } };
  return {
    id: user.id,
    token,
    async call(method, of = {}) {
      const answer = await rpcCall(url, method, of, token);
      if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
      return answer.result;
    },
    async refusal(method, of = {}) {
      const { error, result: unexpected } = await rpcCall(url, method, of, token);
      if (error === undefined) throw new Error(`not refused: ${JSON.stringify(unexpected)}`);
      return { code: error.code, message: error.message };
    },
  };
}

async function takeUsage({ bus }: AppContext): Promise<readonly UsageEvent[]> {
  const { journal } = bus;
  const events: UsageEvent[] = [];
  const drained = new AbortController();
  const draining = journal.drain(
    async (batch) => {
      events.push(...batch.map(({ body }) => usageEventSchema.parse(JSON.parse(body))));
    },
    { batchSize: 100, signal: drained.signal },
  );
  while ((await journal.lag()) > 0) await new Promise(setImmediate);
  drained.abort();
  await draining;
  return events;
}
