import { backendListSchema } from '@model-gateway/contracts';
import { startRecordedServer, type RecordedServer } from '@model-gateway/testkit/upstreams';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

const MODEL = 'tiny';
/** How upstreams say that they do not have a model. */
const MISSING = [
  { error: { message: `The model '${MODEL}' does not exist`, code: 'model_not_found' } },
  { object: 'error', message: `The model \`${MODEL}\` does not exist.`, type: 'NotFoundError' },
  { error: { message: `model "${MODEL}" not found, try pulling it first`, type: 'api_error' } },
  { error: `model '${MODEL}' not found` },
  { type: 'error', error: { type: 'not_found_error', message: `model: ${MODEL}` } },
  { error: { code: 404, message: `models/${MODEL} is not found for API version v1beta` } },
  { error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } },
  { error: { message: `No endpoints found for ${MODEL}.`, code: 404 } },
  { error: { message: `No backend available for model: ${MODEL}`, code: 'model_not_found' } },
  { detail: `Unknown model ${MODEL}` },
];
/** What else is not found is about the request. */
const OTHERS = [
  { error: { message: "Previous response with id 'the model is not found' not found." } },
  { error: { message: 'No endpoints found that support image input', code: 404 } },
  { error: { message: 'File not found' } },
  { detail: 'Not Found' },
];

let gateway: GatewayUnderTest;
/** Lists the model and does not have it. */
let without: RecordedServer;
let having: RecordedServer;

const listing = (...models: object[]) => ({ body: JSON.stringify({ data: models }) });
const answerOf = (text: string) => ({
  body: JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: MODEL,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
  }),
});
const STREAM = {
  type: 'text/event-stream',
  body: `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
};
const EMBEDDING = { body: JSON.stringify({ data: [{ index: 0, embedding: [1] }] }) };

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  without = await startRecordedServer();
  having = await startRecordedServer();
  without.answer('/models', listing({ id: MODEL }));
  having.answer('/models', listing({ id: MODEL }));
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([without.close(), having.close()]);
});

const register = (name: string, { url }: RecordedServer) =>
  registerBackend(gateway, { type: 'external', name, url });
/** Registered again, both are listed again. */
beforeEach(async () => {
  for (const name of ['without', 'having'])
    await admin(gateway, 'DELETE', `backends/by-name/${name}`);
  without.answer('/chat/completions', { status: 404, body: JSON.stringify(MISSING[0]) });
  having.answer('/chat/completions', answerOf('Hello'));
  await register('without', without);
  await register('having', having);
});

function ask(body: object = {}, path = 'chat/completions') {
  const messages = [{ role: 'user', content: 'Hi' }];
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'x-service-errors': 'upstream' },
    body: JSON.stringify({ model: MODEL, messages, max_tokens: 9, ...body }),
  });
}

const sentTo = ({ requests }: RecordedServer): number =>
  requests.filter(({ method }) => method === 'POST').length;

test.each(MISSING)(
  'the next backend is asked, and the model is off the first: %j',
  async (body) => {
    without.answer('/chat/completions', { status: 404, body: JSON.stringify(body) });
    const before = sentTo(without);
    for (let time = 0; time < 6; time += 1) expect((await ask()).status).toBe(200);
    expect(sentTo(without) - before).toBe(1);
  },
);

test.each(OTHERS)('another 404 is the answer to the request: %j', async (body) => {
  without.answer('/chat/completions', { status: 404, body: JSON.stringify(body) });
  const statuses: number[] = [];
  for (let time = 0; time < 4; time += 1) statuses.push((await ask()).status);
  expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 200, 404, 404]);
});

test.each([
  { path: 'chat/completions', body: { stream: true }, answer: STREAM },
  { path: 'messages', body: {}, answer: answerOf('Hello') },
  { path: 'responses', body: { input: 'Hi', messages: undefined }, answer: answerOf('Hello') },
  { path: 'embeddings', body: { input: 'Hi', messages: undefined }, answer: EMBEDDING },
])('so it is for $path, $body', async ({ path, body, answer }) => {
  without.answer('/embeddings', { status: 404, body: JSON.stringify(MISSING[0]) });
  having.answer('/embeddings', answer);
  if (path !== 'embeddings') having.answer('/chat/completions', answer);
  const before = sentTo(without);
  for (let time = 0; time < 4; time += 1) {
    const response = await ask(body, path);
    expect([response.status, (await response.text()).includes('not exist')]).toEqual([200, false]);
  }
  expect(sentTo(without) - before).toBe(1);
});

const modelsOf = async (name: string) => {
  const response = await admin(gateway, 'GET', 'backends');
  const { health } = backendListSchema.parse(await response.json()).backends;
  return health.find((one) => one.name === name)?.models;
};
const reasons = async () => {
  const response = await admin(gateway, 'GET', `route?model=${MODEL}`);
  const { targets } = (await response.json()) as { targets: { backend: string }[] };
  return targets.map(({ backend }) => backend);
};

test('its next listing brings the model back', async () => {
  while (sentTo(without) === 0 || (await modelsOf('without'))?.length !== 0) await ask();
  expect(await reasons()).toEqual(['having', 'without']);
  await register('without', without);
  expect(await modelsOf('without')).toEqual([MODEL]);
});

test('where no backend has it, the words of the upstream are the answer, each time', async () => {
  having.answer('/chat/completions', { status: 404, body: JSON.stringify(MISSING[2]) });
  for (let time = 0; time < 3; time += 1) {
    const response = await ask();
    expect(response.status).toBe(404);
    expect(await response.text()).toMatch(/does not exist|not found/);
  }
  // It takes the model from nobody: a backend that has it after all is asked.
  having.answer('/chat/completions', answerOf('Hello'));
  expect((await ask()).status).toBe(200);
});

test('a gateway behind this one: what it only suggests is never asked there', async () => {
  const inner = await startGateway();
  const suggested = await fetch(`${inner.url}/v1/models`, { headers: { 'x-api-key': inner.key } });
  const { data } = (await suggested.json()) as { data: { id: string; status?: string }[] };
  const { id } = data.find(({ status }) => status === 'suggested') ?? { id: '' };
  expect(id).not.toBe('');
  having.answer('/models', listing({ id }));
  await register('having', having);
  const url = `${inner.url}/v1`;
  await registerBackend(gateway, { type: 'external', name: 'inner', url, api_key: inner.key });
  expect(await modelsOf('inner')).toEqual([]);
  for (let time = 0; time < 60; time += 1) expect((await ask({ model: id })).status).toBe(200);

  // An earlier version of it does not mark them.
  const models = [id];
  await registerBackend(gateway, {
    type: 'external',
    name: 'inner',
    url,
    api_key: inner.key,
    models,
  });
  expect(await modelsOf('inner')).toEqual(models);
  for (let time = 0; time < 60; time += 1) expect((await ask({ model: id })).status).toBe(200);
  expect(await modelsOf('inner')).toEqual([]);
  having.answer('/models', listing({ id: MODEL }));
  await inner.test.close();
});
