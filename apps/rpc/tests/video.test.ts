import { newId } from '@model-gateway/kernel';
import { waitUntil, type TestAccount } from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { openStream, startRpc, type RpcServer } from './rpc-server.ts';

let rpc: RpcServer;
let video: RunningCloudVideo;
let owner: TestAccount;
let other: TestAccount;

beforeAll(async () => {
  rpc = await startRpc();
  video = await startCloudVideo();
  const { backendConfigs, plans } = rpc.test.context.database;
  await plans.saveTier('free', { monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null });
  await backendConfigs.save({
    name: 'cloud',
    type: 'cloud-video',
    url: video.url,
    apiKey: null,
    models: ['v-1'],
    capabilities: null,
  });
  // As when another process registers it.
  await rpc.test.context.bus.channels.publish('registry', 'cloud');
  owner = await rpc.createAccount('owner@example.com');
  other = await rpc.createAccount('other@example.com');
  await waitUntil(async () => (await create()).error === undefined, { what: 'a healthy backend' });
});
afterAll(async () => {
  await rpc.test.close();
  await video.close();
});

const create = (params: object = {}, { token }: TestAccount = owner) =>
  rpc.call('video.create', { model: 'v-1', prompt: 'a cat', ...params }, token);
async function created(params: object = {}): Promise<string> {
  const { result } = await create(params);
  return (result as { job_id: string }).job_id;
}
const call = (method: string, jobId: string, { token }: TestAccount = owner) =>
  rpc.call(method, { job_id: jobId }, token);

test('a job is created and shown to its owner', async () => {
  const { result } = await create({ provider: 'cloud', images: null });
  const { job_id: id } = result as { job_id: string };
  expect(result).toEqual({ job_id: id, stream_id: id });
  const shown = await call('video.get', id);
  expect(shown.result).toEqual({
    id,
    job_id: id,
    object: 'video.generation',
    model: 'v-1',
    status: 'queued',
    progress: 0,
    result: null,
    error: null,
    cost: 0,
    created_at: expect.any(Number) as number,
  });
  expect(await rpc.test.context.database.videoJobs.findWork(id)).toMatchObject({
    payer: { userId: owner.id, keyId: null, apiKeyId: `jwt-${owner.id}`, project: null },
  });
});

test('jobs are listed for their owner, newest first, up to the requested limit', async () => {
  const mine = await rpc.createAccount(`${newId()}@example.com`);
  const list = async (params: object = {}) => {
    const { result } = await rpc.call('video.list', params, mine.token);
    return (result as { jobs: { job_id: string }[] }).jobs.map(({ job_id }) => job_id);
  };
  expect(await list()).toEqual([]);
  const ids: string[] = [];
  for (let count = 0; count < 22; count += 1) {
    const { result } = await create({}, mine);
    ids.unshift((result as { job_id: string }).job_id);
  }
  expect(await list()).toEqual(ids.slice(0, 20));
  expect(await list({ limit: 2 })).toEqual(ids.slice(0, 2));
  expect(await list({ limit: 0 })).toEqual(ids.slice(0, 1));
  expect(await list({ limit: 1000 })).toEqual(ids);
});

test('a cancelled job sends a notification, and cancelling it again is fine', async () => {
  const id = await created();
  const stream = await openStream(`${rpc.url}/api/rpc/events?session=${id}`);
  await stream.next();
  expect((await call('video.cancel', id)).result).toEqual({ ok: true });
  expect((await call('video.cancel', id)).result).toEqual({ ok: true });
  expect(JSON.parse((await stream.next()).slice('data: '.length))).toEqual({
    jsonrpc: '2.0',
    method: 'video.failed',
    params: { job_id: id, stream_id: id, status: 'cancelled', error: 'cancelled' },
  });
  expect((await call('video.get', id)).result).toMatchObject({ status: 'cancelled' });
  stream.close();
});

test('the stream of a job is refused to another authenticated user', async () => {
  const id = await created();
  const open = async ({ token }: TestAccount) => {
    const headers = { authorization: `Bearer ${token}` };
    const stream = await openStream(`${rpc.url}/api/rpc/events?session=${id}`, headers);
    stream.close();
    return stream.status;
  };
  expect([await open(owner), await open(other)]).toEqual([200, 403]);
});

test('a job that ended otherwise cannot be cancelled', async () => {
  const { videoJobs } = rpc.test.context.database;
  const [done, failed] = [await created(), await created()];
  await videoJobs.startSubmission(done, { backend: 'cloud', servedModel: 'v-1' });
  await videoJobs.begin(done, 'task');
  await videoJobs.finish(done, { result: { url: 'https://x/1.mp4' }, cost: 1, at: new Date() });
  await videoJobs.fail(failed, 'no GPU');
  expect((await call('video.cancel', done)).error).toEqual({
    code: -32_000,
    message: 'the video job is done already',
  });
  expect((await call('video.cancel', failed)).error).toMatchObject({ code: -32_000 });
});

test.each(['video.get', 'video.cancel'])(
  '%s does not find jobs of other users or invalid ids',
  async (method) => {
    const id = await created();
    const notFound = { code: -32_000, message: 'video job not found' };
    expect((await call(method, id, other)).error).toEqual(notFound);
    expect((await call(method, newId())).error).toEqual(notFound);
    expect((await call(method, '17')).error).toMatchObject({ code: -32_602 });
    expect((await call('video.get', id)).result).toMatchObject({ status: 'queued' });
  },
);

const image = { data_base64: 'AAAA', mime_type: 'image/png' };

test.each([
  { why: 'an empty prompt', params: { prompt: '' }, path: 'prompt' },
  { why: 'too many seconds', params: { duration_seconds: 61 }, path: 'duration_seconds' },
  { why: 'too narrow a picture', params: { width: 63 }, path: 'width' },
  {
    why: 'nine images',
    params: { images: Array.from({ length: 9 }, () => image) },
    path: 'images',
  },
  {
    why: 'an invalid image',
    params: { images: [{ ...image, mime_type: 'text/html' }] },
    path: 'images.0.mime_type',
  },
  { why: 'invalid frames', params: { extra: { frames: 0 } }, path: 'extra.frames' },
])('video.create with $why is -32602', async ({ params, path }) => {
  const { error } = await create(params);
  expect(error).toMatchObject({ code: -32_602, data: { issues: [{ path }] } });
  expect(error?.message).toContain(`'${path}'`);
});

test('an extra with a field that the price depends on is -32602', async () => {
  const { error } = await create({ extra: { duration: 60 } });
  expect(error).toMatchObject({ code: -32_602 });
  expect(error?.message).toContain("'extra.duration' is not allowed");
  expect((await create({ extra: { seed: 7 } })).error).toBeUndefined();
});

test('a model whose price is switched off is -32000; switched on, it is accepted', async () => {
  const { videoPricing } = rpc.test.context.database;
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
  await save(false);
  expect((await create()).error).toEqual({
    code: -32_000,
    message: 'the model is switched off: v-1',
  });
  await save(true);
  expect((await create()).error).toBeUndefined();
});

test('a model that no healthy backend can make videos with is -32000', async () => {
  for (const params of [{ model: 'unknown' }, { provider: 'missing' }]) {
    const { error } = await create(params);
    expect(error).toMatchObject({ code: -32_000 });
    expect(error?.message).toContain('no healthy video-capable backend serves the model');
  }
});

test('a drained quota is -32006, counting all usage of the user', async () => {
  const { database, bus } = rpc.test.context;
  const poor = await rpc.createAccount(`${newId()}@example.com`);
  await database.plans.saveTier('free', { monthlyUsdQuota: 1 });
  const event = {
    id: newId(),
    user_id: poor.id,
    key_id: newId(),
    api_key_id: 'service-',
    project: 'shop',
    group_id: null,
    model: 'm',
    backend: 'gateway',
    prompt_tokens: 1,
    completion_tokens: 0,
    total_tokens: 1,
    cost: 1,
    multiplier: 1,
    ref_id: null,
    created_at: new Date().toISOString(),
  };
  expect((await create({}, poor)).error).toBeUndefined();
  const { facts } = await database.usage.record([event], { pointsPerUsd: 100 });
  await bus.admission.updateHints(facts);
  expect((await create({}, poor)).error).toMatchObject({ code: -32_006 });
  await database.plans.saveTier('free', { monthlyUsdQuota: null });
});

test.each(['video.create', 'video.get', 'video.list', 'video.cancel'])(
  '%s needs a token',
  async (method) => {
    expect((await rpc.call(method, {})).error).toMatchObject({ code: -32_005 });
  },
);
