import { newId } from '@model-gateway/kernel';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

const STORED_BYTES_MAX = 100_000;

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_STORED_BYTES_PER_USER: String(STORED_BYTES_MAX),
  });
  upstream = await startChatUpstream({ models: ['m'], answer: () => 'short' });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

async function call(path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    ...(body === undefined ? {} : { body: JSON.stringify({ model: 'm', ...body }) }),
  });
  return { ...((await response.json()) as object), status: response.status };
}

const respond = (characters = 9_000) => call('responses', { input: 'x'.repeat(characters) });
const storedBytes = async (): Promise<number> => {
  const [row] = await gateway.test.query(
    'SELECT conversations + responses AS bytes FROM stored_bytes WHERE user_id = $1',
    [gateway.userId],
  );
  return Number(row?.['bytes'] ?? 0);
};
async function conversation(): Promise<string> {
  const id = newId();
  const { conversations } = gateway.test.context.database;
  await conversations.create({ id, userId: gateway.userId, title: 'talk' });
  return id;
}
const chat = (conversation_id: string, content: string) =>
  call('chat/completions', { conversation_id, messages: [{ role: 'user', content }] });

test('the oldest responses make room for new ones and for turns of conversations', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 15; count += 1) ids.push(String((await respond())['id']));
  await waitUntil(async () => (await storedBytes()) <= STORED_BYTES_MAX);
  expect(await storedBytes()).toBeGreaterThan(STORED_BYTES_MAX / 2);
  expect(await call(`responses/${ids[0]}`)).toMatchObject({ status: 404 });
  expect(await call(`responses/${ids.at(-1)}`)).toMatchObject({ status: 200, store: true });
  const id = await conversation();
  for (let count = 0; count < 7; count += 1)
    expect(await chat(id, 'x'.repeat(9_000))).toMatchObject({ status: 200 });
  await waitUntil(async () => {
    await respond(10);
    return (await storedBytes()) <= STORED_BYTES_MAX;
  });
  expect(await call(`responses/${ids.at(-4)}`)).toMatchObject({ status: 404 });
});

test('a user whose conversations take all of it is refused by name, and may delete some', async () => {
  const id = await conversation();
  const { conversations } = gateway.test.context.database;
  await conversations.addTurn(id, [{ role: 'user', content: 'x'.repeat(STORED_BYTES_MAX) }]);
  const refused = await chat(id, 'more');
  expect(refused).toMatchObject({
    status: 403,
    error: {
      code: 'storage_full',
      message: expect.stringContaining('SERVICE_STORED_BYTES_PER_USER'),
    },
  });
  // What is stored by default only is answered, and says that it is not stored.
  const answered = await respond(10);
  expect(answered).toMatchObject({ status: 200, store: false });
  expect(await call(`responses/${String(answered['id'])}`)).toMatchObject({ status: 404 });
  const free = { messages: [{ role: 'user', content: 'hi' }] };
  expect(await call('chat/completions', free)).toMatchObject({ status: 200 });
  await conversations.remove(gateway.userId, id);
  expect(await chat(await conversation(), 'more')).toMatchObject({ status: 200 });
  expect(await respond(10)).toMatchObject({ store: true });
});
