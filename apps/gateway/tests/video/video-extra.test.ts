import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let video: RunningCloudVideo;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  video = await startCloudVideo();
  const models = ['v-1', 'denied'];
  await registerBackend(gateway, { type: 'cloud-video', name: 'cloud', url: video.url, models });
});
afterAll(async () => {
  await gateway.test.close();
  await video.close();
});

const order = { model: 'v-1', prompt: 'a cat' };
const post = (body: object): Promise<Response> =>
  fetch(`${gateway.url}/v1/video/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify(body),
  });

test.each([
  'n',
  'num_videos',
  'duration',
  'duration_seconds',
  'durationSeconds',
  'resolution',
  'size',
  'width',
  'height',
  'fps',
  'FPS',
  'num_frames',
  'numFrames',
  'seconds',
  'video_length',
  'Frames',
])('extra.%s is refused, because the price depends on it', async (name) => {
  for (const value of [2, null]) {
    const response = await post({ ...order, extra: { seed: 1, [name]: value } });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error).toMatchObject({ code: 'bad_extra', param: `extra.${name}` });
    expect(error.message).toContain(`'extra.${name}' is not allowed`);
  }
});

test.each([
  { at: 'parameters.duration', extra: { parameters: { duration: 60 } } },
  { at: 'parameters.size', extra: { seed: 1, parameters: { seed: 1, size: '3840*2160' } } },
  { at: 'input.shots.1.num_frames', extra: { input: { shots: [{}, { num_frames: 2 }] } } },
  { at: 'options.frames', extra: { options: { frames: 1 } } },
])('extra.$at is refused as well', async ({ at, extra }) => {
  const response = await post({ ...order, extra });
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { message: string } };
  expect(error).toMatchObject({ code: 'bad_extra', param: `extra.${at}` });
  expect(error.message).toContain(`'extra.${at}' is not allowed`);
});

test('extra is refused where it is too deep to be checked', async () => {
  const nested = (levels: number): unknown =>
    levels === 0 ? { seed: 1 } : { inner: nested(levels - 1) };
  expect((await post({ ...order, extra: nested(7) })).status).toBe(200);
  for (const levels of [8, 20]) {
    const response = await post({ ...order, extra: nested(levels) });
    expect(response.status).toBe(400);
    const message = "'extra' has more than 8 levels";
    expect(await response.json()).toMatchObject({ error: { code: 'bad_extra', message } });
  }
});

test('extra with other fields is accepted', async () => {
  const extras = [
    { seed: 1, steps: 30, cfg: 7.5, resize: true, nn: 1, video_size: 1 },
    { negative_prompt: 'blurry', parameters: { seed: 1, sampler: { name: 'euler', steps: [1] } } },
    { frames: null },
  ];
  for (const extra of extras) expect((await post({ ...order, extra })).status).toBe(200);
});

test('extra.frames may not be more than a price by the second pays for', async () => {
  const send = async (frames: number, values: object = {}) =>
    (await post({ ...order, ...values, extra: { frames } })).status;
  const save = (mode: 'per_frame' | 'per_second_resolution') =>
    gateway.test.context.database.videoPricing.save({
      model: 'denied',
      mode,
      basePrice: 0,
      pricePerSecond: 0.1,
      pricePerFrame: 0.1,
      resolutionCoeff: {},
      currency: 'USD',
      enabled: true,
    });
  // 24 a second, and 5 seconds where the request has none.
  expect([await send(120), await send(121)]).toEqual([200, 400]);
  expect(await send(121, { duration_seconds: 6 })).toBe(200);
  const refused = await post({ ...order, duration_seconds: 2, extra: { frames: 49 } });
  expect(await refused.json()).toMatchObject({
    error: {
      code: 'bad_extra',
      message: `'extra.frames' must not exceed the frames of 'duration_seconds'; ask for a longer 'duration_seconds'`,
    },
  });
  await save('per_second_resolution');
  expect(await send(10_000, { model: 'denied' })).toBe(400);
  await save('per_frame');
  expect(await send(10_000, { model: 'denied' })).toBe(200);
});
