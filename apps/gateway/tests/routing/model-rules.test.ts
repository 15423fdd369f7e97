import { RETRY_REASONS } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { admin, groupsOf, keysOf } from '../gateway.ts';
import { startTwoBackends, type TwoBackends } from './two-backends.ts';

let backends: TwoBackends;
let groupId: string;
/** Of a group that denies `spare`. */
let groupKey: string;
/** Of a key that lists the names of two models. */
let listingKey: string;

beforeAll(async () => {
  backends = await startTwoBackends();
  const { gateway } = backends;
  const { database } = gateway.test.context;
  const owner = await database.users.findById(gateway.userId);
  if (owner === undefined) throw new Error('user not found');
  const { groups, models } = groupsOf(gateway.test);
  groupId = (await groups.create(owner, { name: 'Team' })).id;
  await models.deny(groupId, ['spare']);
  const { userId } = gateway;
  const keys = keysOf(gateway.test);
  groupKey = (await keys.create({ userId, name: 'team', groupId })).secret;
  const settings = { models: ['mixed', 'primary'] };
  listingKey = (await keys.create({ userId, name: 'listing', settings })).secret;
  await admin(gateway, 'POST', 'aliases', { alias: 'nick', target: 'spare' });
  await setRoute('open', ['spare']);
  await setRoute('mixed', ['spare', 'primary']);
  await setRoute('lasting', ['spare', 'primary'], 3_600);
});
afterEach(() => backends.clearFaults());
afterAll(() => backends.close());

/** The first target is that of the first priority. */
async function setRoute(model: string, targets: readonly string[], cacheTtlSecs?: number) {
  const { gateway } = backends;
  const { database, bus } = gateway.test.context;
  await database.routeRules.set({
    model,
    targets: targets.map((target, priority) => ({ model: target, priority, weight: 1 })),
    attempts: 2,
    retryOn: RETRY_REASONS,
    ...(cacheTtlSecs === undefined ? {} : { cacheTtlSecs }),
  });
  await bus.channels.publish('routes', model);
  await waitUntil(async () => (await listed(gateway.key)).includes(model));
}

async function listed(key: string): Promise<readonly string[]> {
  const response = await fetch(`${backends.gateway.url}/v1/models`, {
    headers: { 'x-api-key': key },
  });
  const { data } = (await response.json()) as { readonly data: readonly { readonly id: string }[] };
  return data.map(({ id }) => id);
}

const served = async (response: Response) => {
  await response.text();
  return [response.status, response.headers.get('x-service-backend')];
};

test.each([
  { why: 'a route to a denied model only', body: { model: 'open' }, answer: [403, null] },
  { why: 'a stream of it', body: { model: 'open', stream: true }, answer: [403, null] },
  { why: 'an alias of a denied model', body: { model: 'nick' }, answer: [403, null] },
  {
    why: 'a route with another target',
    body: { model: 'mixed' },
    answer: [200, 'first'],
  },
  {
    why: 'a denied model with an allowed fallback',
    body: { model: 'spare', models: ['primary'] },
    answer: [200, 'first'],
  },
  {
    why: 'a denied model with denied fallbacks',
    body: { model: 'open', models: ['nick', 'spare'] },
    answer: [403, null],
  },
])('of a group that denies a model, $why is answered $answer', async ({ body, answer }) => {
  expect(await served(await backends.chat(body, groupKey))).toEqual(answer);
});

test('a denied fallback is left out', async () => {
  const { first } = backends;
  first.faults.always({ kind: 'status', status: 503 });
  for (const name of ['spare', 'nick', 'open']) {
    const [status, backend] = await served(
      await backends.chat({ model: 'primary', models: [name] }, groupKey),
    );
    expect([status, backend]).not.toEqual([200, 'second']);
  }
  const [status, backend] = await served(await backends.chat({ model: 'mixed' }, groupKey));
  expect([status, backend]).not.toEqual([200, 'second']);
});

test.each(['embeddings', 'completions'])('the rules hold for %s', async (path) => {
  const response = await backends.post(path, { model: 'open', input: 'x', prompt: 'x' }, groupKey);
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ error: { code: 'model_not_allowed' } });
});

test('the listing has what the rules let something serve', async () => {
  const models = await listed(groupKey);
  expect(models).toEqual(expect.arrayContaining(['primary', 'mixed']));
  for (const refused of ['spare', 'nick', 'open']) expect(models).not.toContain(refused);
});

test('a key that lists the name of a route may use its targets, and no others', async () => {
  expect(await served(await backends.chat({ model: 'mixed' }, listingKey))).toEqual([
    200,
    'second',
  ]);
  expect(await served(await backends.chat({ model: 'open' }, listingKey))).toEqual([403, null]);
});

test('a stored answer of a model that is denied since is not repeated', async () => {
  const { gateway } = backends;
  const { models } = groupsOf(gateway.test);
  const body = { model: 'lasting', temperature: 0 };
  await models.allow(groupId, ['spare']);
  expect(await served(await backends.chat(body, groupKey))).toEqual([200, 'second']);
  await waitUntil(async () => {
    const repeated = await backends.chat(body, groupKey);
    await repeated.text();
    return repeated.headers.get('x-service-cache') === 'hit';
  });
  await models.deny(groupId, ['spare']);
  expect(await served(await backends.chat(body, groupKey))).toEqual([200, 'first']);
});
