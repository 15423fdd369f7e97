import { manualClock } from '@model-gateway/kernel';
import type { Backend, VideoTask } from '@model-gateway/router';
import { createVideoPace } from '../video-pace.ts';
import { createPoll, type PollJob } from './poll.ts';

const clock = manualClock(1_000_000);
const stopping = new AbortController();
const asked: string[] = [];
const failed: string[] = [];

function pollWith(backends: Readonly<Record<string, Backend['queryVideo']>>): PollJob {
  return createPoll({
    jobs: { advance: () => Promise.resolve(false) },
    router: {
      use: (name) => ({
        backend: {
          name,
          kind: 'cloud-video',
          capabilities: () => new Set(['video'] as const),
          probe: () => Promise.resolve({ state: 'Healthy', models: [] }),
          queryVideo: (taskId, signal) => {
            asked.push(name);
            return backends[name]?.(taskId, signal) ?? Promise.reject(new Error('no such backend'));
          },
          resolveVideo: () => Promise.resolve({ url: 'https://cdn.example.com/1.mp4' }),
          close: () => Promise.resolve(),
        },
        release: () => undefined,
      }),
    },
    notifications: { progress: () => Promise.resolve() },
    settle: () => Promise.resolve(),
    fail: (_jobId, error) => Promise.resolve(void failed.push(error)),
    pace: createVideoPace({ pollMs: 2_000, timeoutSecs: 60, clock }),
    clock,
    stopping: stopping.signal,
    answerMs: 20,
  });
}

const silent: Backend['queryVideo'] = (_taskId, signal) =>
  new Promise<VideoTask>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
const pending: Backend['queryVideo'] = () =>
  Promise.resolve({ state: 'pending', progress: undefined });
const jobOn = (backend: string) => ({
  id: 'job',
  backend,
  taskId: 'task',
  startedAt: new Date(clock.now()),
});

test('an upstream that does not answer is left alone for a while, and the others are not', async () => {
  const poll = pollWith({ silent, busy: pending });
  await expect(poll(jobOn('silent'), {})).rejects.toThrow('aborted');
  expect(await poll(jobOn('silent'), { failures: 1 })).toEqual({
    afterMs: 30_000,
    memo: { failures: 1 },
  });
  expect(await poll(jobOn('busy'), {})).toEqual({ afterMs: 2_000 });
  expect(asked).toEqual(['silent', 'busy']);
  clock.advance(30_000);
  await expect(poll(jobOn('silent'), {})).rejects.toThrow('aborted');
  expect(failed).toEqual([]);
});

test('a worker that stops leaves its poll to the others, at once', async () => {
  const poll = pollWith({ silent });
  const polling = poll(jobOn('silent'), { failures: 2 });
  stopping.abort();
  expect(await polling).toEqual({ afterMs: 0, memo: { failures: 2 } });
});
