import { systemClock } from '@model-gateway/kernel';
import type { Backend, VideoTask } from '@model-gateway/router';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { createBackend } from '../factory/create-backend.ts';

const timeouts = { connectMs: 30_000, idleMs: 2_000, totalMs: 8_000 };
const signal = new AbortController().signal;

const KEY = 'a-secret-video-key';

let video: RunningCloudVideo;
let backend: Backend;
beforeEach(async () => {
  video = await startCloudVideo({ apiKey: KEY });
  backend = backendWith();
});
afterEach(async () => {
  await backend.close();
  await video.close();
});

const configOf = (url: string) => ({
  name: 'vid',
  type: 'cloud-video',
  url,
  models: ['demo-video'],
  capabilities: null,
});

function backendWith({ apiKey = KEY, models = ['demo-video'], path = '' } = {}): Backend {
  const config = { ...configOf(`${video.url}${path}`), apiKey, models };
  return createBackend(config, { timeouts, clock: systemClock });
}
async function submit(idempotencyKey = 'job-1'): Promise<string> {
  const body = { model: 'demo-video', prompt: 'a cat' };
  const submitted = await backend.submitVideo?.(body, { idempotencyKey, signal });
  return submitted?.taskId ?? '';
}
const query = (taskId: string): Promise<VideoTask> | undefined =>
  backend.queryVideo?.(taskId, signal);
const rejection = (work: Promise<unknown> | undefined): Promise<unknown> =>
  work?.then(
    () => undefined,
    (error: unknown) => error,
  ) ?? Promise.resolve();

describe('a cloud video API', () => {
  it('takes a task to a file that can be fetched', async () => {
    const taskId = await submit();
    expect(await query(taskId)).toEqual({ state: 'pending', progress: 0 });
    expect(await query(taskId)).toEqual({ state: 'pending', progress: 5 });
    expect(await query(taskId)).toEqual({ state: 'pending', progress: 50 });
    const done = await query(taskId);
    expect(done).toMatchObject({ state: 'done', width: 1280, height: 720 });
    const fileId = done?.state === 'done' ? done.fileId : '';
    expect(await backend.resolveVideo?.(fileId, signal)).toEqual({
      url: `${video.url}/files/${fileId}.mp4`,
    });
  });

  it('works with a key whose text is part of its answers', async () => {
    const open = await startCloudVideo();
    const keyed = createBackend(
      { ...configOf(open.url), apiKey: 'k' },
      { timeouts, clock: systemClock },
    );
    const body = { model: 'demo-video', prompt: 'a cat' };
    const submitted = await keyed.submitVideo?.(body, { idempotencyKey: 'job-1', signal });
    expect(await keyed.queryVideo?.(submitted?.taskId ?? '', signal)).toMatchObject({
      state: 'pending',
    });
    await keyed.close();
    await open.close();
  });

  it('makes one task for one key', async () => {
    expect(await submit('job-1')).toBe(await submit('job-1'));
    expect(video.taskCount).toBe(1);
  });

  it('reports why a task failed', async () => {
    const taskId = await submit();
    video.faults.next({ kind: 'fail', reason: 'no GPU' });
    expect(await query(taskId)).toEqual({ state: 'failed', error: 'no GPU' });
  });

  it.each([
    { answer: { status: 'Cancelled' }, charge: 'nothing' },
    { answer: {}, charge: 'nothing' },
    { answer: { status: 'Success' }, charge: 'everything' },
    { answer: { status: 'Success', cost: 0.25 }, charge: { cost: 0.25 } },
    { answer: { status: 7, cost: 'much' }, charge: 'nothing' },
  ])('says what a cancelled task still costs: $answer', async ({ answer, charge }) => {
    const able = await startCloudVideo({ cancelAnswer: () => answer });
    const cancelling = createBackend(
      { ...configOf(able.url), apiKey: KEY },
      { timeouts, clock: systemClock },
    );
    const body = { model: 'demo-video', prompt: 'a cat' };
    const submitted = await cancelling.submitVideo?.(body, { idempotencyKey: 'job-1', signal });
    expect(await cancelling.cancelVideo?.(submitted?.taskId ?? '', signal)).toEqual(charge);
    await cancelling.close();
    await able.close();
  });

  it('may be unable to cancel a task', async () => {
    const taskId = await submit();
    expect(await rejection(backend.cancelVideo?.(taskId, signal))).toMatchObject({
      isBackendAtFault: false,
    });
  });

  it('may be registered with its prefix', async () => {
    backend = backendWith({ path: '/v1/' });
    expect(await submit()).not.toBe('');
  });
});

describe('the health of a cloud video API', () => {
  it('is good with any answer, and its models are those of the registration', async () => {
    expect(await backend.probe(signal)).toEqual({ state: 'Healthy', models: ['demo-video'] });
    expect(await backendWith({ apiKey: 'wrong' }).probe(signal)).toMatchObject({
      state: 'Healthy',
    });
    expect([...backend.capabilities()]).toEqual(['video']);
  });

  it('is Degraded without models, and no answer is none', async () => {
    expect(await backendWith({ models: [] }).probe(signal)).toMatchObject({ state: 'Degraded' });
    await video.refuse();
    await expect(backend.probe(signal)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a failing cloud video API', () => {
  it.each([
    {
      why: 'refuses with a good status',
      fault: { kind: 'refused', code: 2013, message: 'bad prompt' },
      failure: { message: 'upstream 2013: bad prompt', isBackendAtFault: false },
    },
    {
      why: 'is busy, with a good status',
      fault: { kind: 'refused', code: 1002, message: 'rate limit' },
      failure: { message: 'upstream 1002: rate limit', isBackendAtFault: true },
      hadNoEffect: true,
    },
    {
      why: 'is busy',
      fault: { kind: 'status', status: 429 },
      failure: { message: 'upstream 429: planned failure 429', isBackendAtFault: true },
      hadNoEffect: true,
    },
    {
      why: 'answers 500',
      fault: { kind: 'status', status: 500 },
      failure: { message: 'upstream 500: planned failure 500', isBackendAtFault: true },
    },
    {
      why: 'answers garbage',
      fault: { kind: 'garbage-json' },
      failure: { isBackendAtFault: true, wasUnreadable: true },
    },
    { why: 'hangs', fault: { kind: 'hang' }, failure: { isBackendAtFault: true } },
    {
      why: 'loses its answer',
      fault: { kind: 'lost-answer' },
      failure: { isBackendAtFault: true },
    },
  ] as const)(
    '$why: the submit may have had an effect, unless it was one too many',
    async ({ fault, failure, ...told }) => {
      video.faults.next(fault, 1, 'submit');
      const error = await rejection(submit());
      const hadNoEffect = 'hadNoEffect' in told;
      expect(error).toMatchObject({ code: 'bad_gateway', hadNoEffect, ...failure });
    },
  );

  it('refuses connections: the submit certainly had no effect', async () => {
    await video.refuse();
    expect(await rejection(submit())).toMatchObject({ hadNoEffect: true });
  });

  it('quotes the key that it was sent: the key is removed from the message', async () => {
    const message = `no such key: ${KEY}`;
    video.faults.next({ kind: 'refused', code: 1004, message }, 1, 'submit');
    expect(await rejection(submit())).toMatchObject({
      message: 'upstream 1004: no such key: [redacted]',
    });
  });

  it('does not know the task, or returns no address', async () => {
    await expect(query('unknown')).rejects.toThrow('upstream 2013: task not found');
    const taskId = await submit();
    video.setTask(taskId, 'Success');
    const done = await query(taskId);
    video.faults.next({ kind: 'no-download-url' }, 1, 'retrieve');
    const fileId = done?.state === 'done' ? done.fileId : '';
    await expect(backend.resolveVideo?.(fileId, signal)).rejects.toMatchObject({
      code: 'bad_gateway',
      wasUnreadable: true,
    });
  });
});
