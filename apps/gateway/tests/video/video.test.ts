import { videoJobSchema, videoSubmittedSchema } from '@model-gateway/contracts';
import { VIDEO_QUEUED_CHANNEL } from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import { createTestAccount, waitUntil } from '@model-gateway/testkit';
import {
  startChatUpstream,
  startCloudVideo,
  type RunningChatUpstream,
  type RunningCloudVideo,
} from '@model-gateway/testkit/upstreams';
import { admin, groupsOf, keysOf, registerBackend, startGateway } from '../gateway.ts';
import type { GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let video: RunningCloudVideo;
let chat: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  video = await startCloudVideo();
  chat = await startChatUpstream({ models: ['talker'] });
  const models = ['v-1', 'denied'];
  await registerBackend(gateway, { type: 'cloud-video', name: 'cloud', url: video.url, models });
  await registerBackend(gateway, { type: 'external', name: 'chat', url: chat.url });
  const stopped = await startCloudVideo();
  await stopped.close();
  const unavailable = { type: 'cloud-video', name: 'down', url: stopped.url, models: ['v-down'] };
  await registerBackend(gateway, unavailable);
});
afterAll(async () => {
  await gateway.test.close();
  await video.close();
  await chat.close();
});

const order = { model: 'v-1', prompt: 'a cat' };

function post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/video/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}
const get = (id: string, key = gateway.key): Promise<Response> =>
  fetch(`${gateway.url}/v1/video/generations/${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
async function submitted(body: unknown = order): Promise<string> {
  return videoSubmittedSchema.parse(await (await post(body)).json()).id;
}

test('a job is queued, announced, and can be read', async () => {
  const announced: string[] = [];
  const { bus, database } = gateway.test.context;
  const listening = await bus.channels.subscribe(VIDEO_QUEUED_CHANNEL, (id) => {
    announced.push(id);
  });
  const before = Math.floor(Date.now() / 1000);
  const response = await post({ ...order, duration_seconds: null, extra: { seed: 1 } });
  expect(response.status).toBe(200);
  const body: unknown = await response.json();
  const { id, created_at } = videoSubmittedSchema.parse(body);
  expect(body).toEqual({
    id,
    object: 'video.generation',
    model: 'v-1',
    status: 'queued',
    created_at,
  });
  expect(created_at).toBeGreaterThanOrEqual(before);
  expect(await (await get(id)).json()).toEqual({
    id,
    object: 'video.generation',
    model: 'v-1',
    status: 'queued',
    progress: 0,
    result: null,
    error: null,
    cost: 0,
    created_at,
  });
  await waitUntil(() => announced.includes(id), { what: 'an announcement' });
  await listening.close();
  expect(await database.videoJobs.findWork(id)).toMatchObject({
    payer: {
      userId: gateway.userId,
      keyId: gateway.keyId,
      apiKeyId: 'service-',
      project: 'default',
      groupId: null,
      multiplier: 1,
    },
    order: { prompt: 'a cat', extra: { seed: 1 } },
  });
});

test('a job that has ended shows its outcome', async () => {
  const { videoJobs } = gateway.test.context.database;
  const [done, failed, cancelled] = [await submitted(), await submitted(), await submitted()];
  await videoJobs.startSubmission(done, { backend: 'cloud', servedModel: 'v-1' });
  await videoJobs.begin(done, 'task');
  const result = { url: 'https://cdn.example.com/1.mp4', format: 'mp4' };
  await videoJobs.finish(done, { result, cost: 0.25, at: new Date() });
  await videoJobs.fail(failed, 'no GPU');
  await videoJobs.cancel(cancelled);
  const view = async (id: string) => videoJobSchema.parse(await (await get(id)).json());
  expect(await view(done)).toMatchObject({ status: 'done', progress: 100, result, cost: 0.25 });
  expect(await view(failed)).toMatchObject({ status: 'failed', error: 'no GPU', cost: 0 });
  expect(await view(cancelled)).toMatchObject({ status: 'cancelled', error: 'cancelled' });
});

const image = { data_base64: 'AAAA', mime_type: 'image/png' };

test.each([
  { why: 'no model', body: { prompt: 'a cat' }, field: 'model' },
  { why: 'no prompt', body: { model: 'v-1' }, field: 'prompt' },
  { why: 'an empty prompt', body: { ...order, prompt: '' }, field: 'prompt' },
  { why: 'no seconds', body: { ...order, duration_seconds: 0 }, field: 'duration_seconds' },
  { why: 'too many seconds', body: { ...order, duration_seconds: 61 }, field: 'duration_seconds' },
  { why: 'half a second', body: { ...order, duration_seconds: 0.5 }, field: 'duration_seconds' },
  { why: 'seconds as text', body: { ...order, duration_seconds: '5' }, field: 'duration_seconds' },
  { why: 'too narrow', body: { ...order, width: 63 }, field: 'width' },
  { why: 'too high', body: { ...order, height: 4097 }, field: 'height' },
  {
    why: 'nine images',
    body: { ...order, images: Array.from({ length: 9 }, () => image) },
    field: 'images',
  },
  {
    why: 'an image that is a text',
    body: { ...order, images: [{ ...image, mime_type: 'text/plain' }] },
    field: 'images.0.mime_type',
  },
  {
    why: 'an image that is not base64',
    body: { ...order, images: [{ ...image, data_base64: 'no!' }] },
    field: 'images.0.data_base64',
  },
  { why: 'extra that is a list', body: { ...order, extra: [1] }, field: 'extra' },
  {
    why: 'less than one frame',
    body: { ...order, extra: { frames: -100 } },
    field: 'extra.frames',
  },
  {
    why: 'too many frames',
    body: { ...order, extra: { frames: 10_001 } },
    field: 'extra.frames',
  },
  { why: 'a list in place of an object', body: [], field: null },
])('a request with $why is refused, and the message names the field', async ({ body, field }) => {
  const response = await post(body);
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { message: string } };
  expect(error).toMatchObject({ type: 'invalid_request', code: 'missing_fields', param: field });
  expect(error.message).toContain(field === null ? 'the request body' : `'${field}'`);
});

test('a model whose price is switched off is refused, also by its alias; switched on, it is accepted', async () => {
  const { videoPricing } = gateway.test.context.database;
  const save = (enabled: boolean) =>
    videoPricing.save({
      model: 'v-1',
      mode: 'per_call',
      basePrice: 1,
      pricePerSecond: 0,
      pricePerFrame: 0,
      resolutionCoeff: {},
      currency: 'USD',
      enabled,
    });
  const alias = await admin(gateway, 'POST', 'aliases', { alias: 'v-alias', target: 'v-1' });
  expect(alias.status).toBe(200);
  await save(false);
  for (const model of ['v-1', 'v-alias']) {
    const response = await post({ ...order, model });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: {
        type: 'auth_error',
        code: 'model_not_allowed',
        message: `the model is switched off: ${model}`,
      },
    });
  }
  await save(true);
  for (const model of ['v-1', 'v-alias'])
    expect((await post({ ...order, model })).status).toBe(200);
});

test.each([
  { why: 'no backend serves', body: { ...order, model: 'unknown' } },
  { why: 'is served, but not for video', body: { ...order, model: 'talker' } },
  { why: 'is served by an unavailable backend', body: { ...order, model: 'v-down' } },
  { why: 'the named backend does not serve', body: { ...order, provider: 'down' } },
])('a model that $why returns 503', async ({ body }) => {
  const response = await post(body);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    error: {
      message: `no healthy video-capable backend serves the model: ${body.model}`,
      type: 'video_backend_error',
      code: 'no_backend',
      param: null,
    },
  });
});

test('a backend may be named by its name or its kind', async () => {
  expect((await post({ ...order, provider: 'CLOUD' })).status).toBe(200);
  expect((await post({ ...order, provider: 'cloud-video' })).status).toBe(200);
});

test.each([
  { why: 'bad JSON', ask: () => post('{'), status: 400, code: 'invalid_json' },
  {
    why: 'a large body',
    ask: () => post({ ...order, prompt: 'x'.repeat(20_000) }),
    status: 413,
    code: 'request_too_large',
  },
  { why: 'an invalid id', ask: () => get('17'), status: 400, code: 'bad_id' },
  {
    why: 'a long idempotency key',
    ask: () => post(order, { 'idempotency-key': 'x'.repeat(201) }),
    status: 400,
    code: 'missing_fields',
  },
])('$why returns $status $code', async ({ ask, status, code }) => {
  const response = await ask();
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request', code } });
});

test.each(['PUT', 'DELETE', 'GET'])('%s does not submit a job', async (method) => {
  const response = await fetch(`${gateway.url}/v1/video/generations`, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
});

test('a missing job and a job of another user give the same response', async () => {
  const otherUser = await gateway.test.context.database.users.create({
    id: newId(),
    email: 'other@example.com',
    name: 'Other',
    passwordHash: 'not used',
  });
  const { secret } = await keysOf(gateway.test).create({ userId: otherUser.id, name: 'theirs' });
  const mine = await submitted();
  for (const response of [await get(newId()), await get(mine, secret)]) {
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: { message: 'video job not found', type: 'not_found', code: 'no_job', param: null },
    });
  }
  const { secret: another } = await keysOf(gateway.test).create({
    userId: gateway.userId,
    name: 'another of mine',
  });
  expect((await get(mine, another)).status).toBe(200);
});

test('only a valid key is accepted, and a revoked one is refused on the next request', async () => {
  const keys = keysOf(gateway.test);
  const mine = await submitted();
  const { key, secret } = await keys.create({ userId: gateway.userId, name: 'short-lived' });
  expect((await get(mine, secret)).status).toBe(200);
  await keys.revoke(gateway.userId, key.id);
  for (const response of [
    await get(mine, secret),
    await post(order, { authorization: `Bearer ${secret}` }),
    await post(order, { authorization: 'Bearer a.b.c' }),
  ]) {
    expect([response.status, await response.text()]).toEqual([401, 'Invalid API key']);
  }
  const missing = await fetch(`${gateway.url}/v1/video/generations/${mine}`);
  expect([missing.status, await missing.text()]).toEqual([
    401,
    'Missing Authorization header. Use: Bearer <api_key>',
  ]);
});

test('the model rules of a group apply to video', async () => {
  const { users } = gateway.test.context.database;
  const owner = await users.findById(gateway.userId);
  if (owner === undefined) throw new Error('user not found');
  const rules = groupsOf(gateway.test);
  const { id: groupId } = await rules.groups.create(owner, { name: 'Team' });
  await rules.models.deny(groupId, ['denied']);
  const { secret } = await keysOf(gateway.test).create({
    userId: owner.id,
    name: 'team',
    groupId,
  });
  const authorization = `Bearer ${secret}`;
  const refused = await post({ ...order, model: 'denied' }, { authorization });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'model_not_allowed' } });
  const response = await post(order, { authorization });
  const { id } = videoSubmittedSchema.parse(await response.json());
  const { videoJobs } = gateway.test.context.database;
  expect(await videoJobs.findWork(id)).toMatchObject({ payer: { groupId, multiplier: 1 } });
});

test('a repeated idempotency key creates no second job', async () => {
  const headers = { 'idempotency-key': 'order-17' };
  const responses = await Promise.all([post(order, headers), post(order, headers)]);
  const ids = await Promise.all(
    responses.map(async (response) => videoSubmittedSchema.parse(await response.json()).id),
  );
  expect(new Set(ids).size).toBe(1);
  const repeated = await post(Object.fromEntries(Object.entries(order).toReversed()), headers);
  expect(videoSubmittedSchema.parse(await repeated.json()).id).toBe(ids[0]);
  const conflict = await post({ ...order, prompt: 'another' }, headers);
  expect(conflict.status).toBe(409);
  expect(await conflict.json()).toMatchObject({
    error: { type: 'invalid_request', code: 'idempotency_conflict' },
  });
  const other = await post(order, { 'idempotency-key': 'order-18' });
  expect(ids).not.toContain(videoSubmittedSchema.parse(await other.json()).id);
});

test('a user may have 100 unfinished jobs: the next is 429 with a sentence that names the limit', async () => {
  const { database } = gateway.test.context;
  const { id: userId } = await createTestAccount(gateway.test.context, 'many-jobs@example.com');
  const unlimited = { monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null };
  await database.plans.saveTier('many-jobs', unlimited);
  await database.plans.assign('many-jobs@example.com', 'many-jobs');
  const { secret } = await keysOf(gateway.test).create({ userId, name: 'jobs' });
  const headers = { authorization: `Bearer ${secret}` };
  const submit = (count: number): Promise<readonly Response[]> =>
    Promise.all(Array.from({ length: count }, () => post(order, headers)));
  // A hundred at once keep the database of a busy machine waiting for too long.
  for (let group = 0; group < 9; group += 1)
    expect((await submit(10)).map(({ status }) => status)).toEqual(Array(10).fill(200));
  const refused = (await submit(11)).filter(({ status }) => status !== 200);
  expect(refused.map(({ status }) => status)).toEqual([429]);
  expect(await refused[0]?.json()).toMatchObject({
    error: {
      code: 'rate_limit_exceeded',
      message: expect.stringMatching(/at most 100 per user\. .*SERVICE_MAX_VIDEO_JOBS_PER_USER/),
    },
  });
  expect((await post(order)).status).toBe(200);
});
