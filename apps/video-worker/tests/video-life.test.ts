import { rpcNotifications } from '@model-gateway/contracts';
import { jwtCaller } from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import { createGate, fullTable, waitUntil } from '@model-gateway/testkit';
import { registerVideo, startVideoScene, usageOf, type VideoScene } from './video-scene.ts';

let scene: VideoScene;
beforeAll(async () => {
  scene = await startVideoScene();
});
afterEach(() => scene.video.faults.clear());
afterAll(() => scene.close());

test('a job runs from its submission to its video and sends exactly these notifications', async () => {
  const { video, test: test_, userId } = scene;
  const before = video.taskCount;
  const job = await scene.create({ duration_seconds: 8, width: 1920, height: 1080 });
  expect(await job.ended()).toMatchObject({
    model: 'v-1',
    status: 'done',
    progress: 100,
    error: null,
    cost: 8 * 0.005,
  });
  const task = video.tasks.at(-1);
  const ids = { job_id: job.id, stream_id: job.id };
  const result = {
    url: `${video.url}/files/${task?.fileId}.mp4`,
    format: 'mp4',
    width: 1920,
    height: 1080,
    duration_seconds: 8,
  };
  expect(job.notifications).toEqual([
    ...[0, 5, 50].map((progress) => ({
      jsonrpc: '2.0',
      method: 'video.progress',
      params: { ...ids, status: 'running', progress },
    })),
    {
      jsonrpc: '2.0',
      method: 'video.done',
      params: { ...ids, status: 'done', progress: 100, result, cost: 0.04 },
    },
  ]);
  for (const { method, params } of job.notifications) {
    expect(rpcNotifications[method].params.safeParse(params).success).toBe(true);
  }
  expect(video.taskCount).toBe(before + 1);
  expect(task).toMatchObject({ idempotencyKey: job.id, polls: 4 });
  expect(await usageOf(test_, userId)).toMatchObject([
    {
      id: job.id,
      apiKeyId: `jwt-${userId}`,
      keyId: null,
      project: null,
      model: 'v-1',
      surface: 'video',
      promptTokens: 0,
      completionTokens: 0,
      totalTokens: 0,
      cost: 0.04,
      points: null,
    },
  ]);
});

test('the upstream gets the requested fields, and fields of extra that are not set otherwise', async () => {
  const data_base64 = Buffer.from('pixels').toString('base64');
  const image = { data_base64, mime_type: 'image/png' };
  const job = await scene.create({
    negative_prompt: 'dogs',
    images: [image],
    duration_seconds: 2,
    width: 640,
    provider: 'cloud',
    extra: { seed: 7, model: 'dear', prompt: 'a dog', provider: 'x' },
  });
  await job.ended();
  expect(scene.video.tasks.at(-1)?.body).toEqual({
    model: 'v-1',
    prompt: 'a cat',
    negative_prompt: 'dogs',
    first_frame_image: `data:image/png;base64,${data_base64}`,
    duration_seconds: 2,
    duration: 2,
    resolution: '512P',
    seed: 7,
  });
  const { videoJobs } = scene.test.context.database;
  expect(await videoJobs.images(job.id)).toEqual([]);
});

test('decreasing progress is not published, and 100 is published only at the end', async () => {
  const steps = ['Processing', 'Queueing', 'Processing', 'Preparing', 'Success'] as const;
  const fickle = await startVideoScene({ upstream: { steps } });
  const job = await fickle.create();
  await job.ended();
  expect(job.notified).toEqual([0, 50, 'done']);
  await fickle.close();
});

const PRICES = [
  { why: 'a call', pricing: { mode: 'per_call' as const }, order: {}, cost: 0.5 },
  {
    why: 'seconds of an upright video, with the coefficient of its short side',
    pricing: {},
    order: { duration_seconds: 10, width: 1080, height: 1920 },
    cost: 0.5 + 10 * 0.1 * 2,
  },
  {
    why: 'seconds, with the coefficient of all other sizes',
    pricing: {},
    order: { duration_seconds: 2, width: 640, height: 480 },
    cost: 0.5 + 2 * 0.1 * 3,
  },
  {
    why: 'frames, 24 a second',
    pricing: { mode: 'per_frame' as const },
    order: { duration_seconds: 2 },
    cost: 0.5 + 48 * 0.01,
  },
  {
    why: 'seconds of the default shape, with the coefficient of its short side',
    pricing: {},
    order: {},
    cost: 0.5 + 5 * 0.1 * 1.5,
  },
  {
    why: 'seconds, where no coefficient covers the size',
    pricing: { resolutionCoeff: { '720': 9 } },
    order: { duration_seconds: 2, width: 640, height: 480 },
    cost: 0.5 + 2 * 0.1,
  },
  {
    why: 'the requested frames',
    pricing: { mode: 'per_frame' as const },
    order: { duration_seconds: 2, extra: { frames: 81 } },
    cost: 0.5 + 81 * 0.01,
  },
  {
    why: 'no fewer frames than the duration has',
    pricing: { mode: 'per_frame' as const },
    order: { duration_seconds: 2, extra: { frames: 1 } },
    cost: 0.5 + 48 * 0.01,
  },
];

test.each(fullTable(PRICES, { small: 4 }))(
  'a video costs by $why: $cost',
  async ({ pricing, order, cost }) => {
    const { database } = scene.test.context;
    await database.videoPricing.save({
      model: 'v-1',
      mode: 'per_second_resolution',
      basePrice: 0.5,
      pricePerSecond: 0.1,
      pricePerFrame: 0.01,
      resolutionCoeff: { '720': 1.5, '1080': 2, '*': 3 },
      currency: 'USD',
      enabled: true,
      ...pricing,
    });
    const job = await scene.create(order);
    expect(await job.ended()).toMatchObject({ status: 'done', cost });
    const [row] = await usageOf(scene.test, scene.userId);
    expect(row).toMatchObject({ id: job.id, cost });
  },
);

test('the price is that of the resolved alias, and the job shows the requested model', async () => {
  const { database } = scene.test.context;
  await database.videoPricing.save({
    model: 'v-1',
    mode: 'per_call',
    basePrice: 0.25,
    pricePerSecond: 0,
    pricePerFrame: 0,
    resolutionCoeff: {},
    currency: 'USD',
    enabled: true,
  });
  await scene.router.aliases.set('nice', 'v-1');
  const gate = createGate();
  scene.video.faults.next({ kind: 'held', until: gate.opened }, 1, 'submit');
  const job = await scene.create({ model: 'nice' });
  await scene.router.aliases.remove('nice');
  gate.open();
  expect(await job.ended()).toMatchObject({ model: 'nice', cost: 0.25 });
  const [row] = await usageOf(scene.test, scene.userId);
  expect(row).toMatchObject({ id: job.id, model: 'v-1' });
});

test('points pay for a video where the balance covers it, and the group pays the cost multiplier of its member', async () => {
  const { database, bus } = scene.test.context;
  const groupId = newId();
  await database.groups.create({ id: groupId, ownerId: scene.userId, name: 'g', description: '' });
  await database.ledger.topUp({ groupId, points: 100 });
  const { videoPricing } = database;
  await videoPricing.save({
    model: 'v-1',
    mode: 'per_call',
    basePrice: 0.2,
    pricePerSecond: 0,
    pricePerFrame: 0,
    resolutionCoeff: {},
    currency: 'USD',
    enabled: true,
  });
  const caller = { ...jwtCaller(scene.userId), groupId, multiplier: 1.5 };
  const job = await scene.create({}, caller);
  await job.ended();
  const [row] = await usageOf(scene.test, scene.userId);
  expect(row).toMatchObject({ id: job.id, cost: 0.2, points: 30, accountType: 'group' });
  const answer = await bus.admission.admit({
    knownEpoch: Number.MAX_SAFE_INTEGER,
    limits: [],
    account: { type: 'group', id: groupId },
  });
  expect(answer).toMatchObject({ account: { balance: 70 } });
});

test('of several backends the one named in the request gets the job', async () => {
  const other = await startVideoScene();
  await registerVideo(scene.router, 'other', other.video.url, ['v-1']);
  const tasks = other.video.taskCount;
  const job = await scene.create({ provider: 'OTHER' });
  await job.ended();
  expect(other.video.taskCount).toBe(tasks + 1);
  await scene.router.registry.remove('other');
  await other.close();
});

test('a job whose announcement was lost is found', async () => {
  const { database } = scene.test.context;
  const id = newId();
  const { modelPolicy: _policy, ...payer } = jwtCaller(scene.userId);
  await database.videoJobs.create({
    id,
    payer,
    model: 'v-1',
    resolvedModel: 'v-1',
    order: { prompt: 'a cat' },
    images: [],
    idempotencyKey: null,
    orderHash: null,
    allowedModels: null,
    unfinishedMax: 1_000,
  });
  await waitUntil(async () => (await database.videoJobs.find(id))?.status === 'done', {
    what: 'a job that was not announced',
  });
});
