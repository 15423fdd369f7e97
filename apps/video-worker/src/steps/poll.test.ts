import { createUpstreamTelemetry } from '@model-gateway/inference';
import { createMetrics, manualClock } from '@model-gateway/kernel';
import type { Backend, VideoTask } from '@model-gateway/router';
import { createVideoTiming } from '../video-timing.ts';
import { createPoll, type PollJob } from './poll.ts';

const clock = manualClock(1_000_000);
const stopping = new AbortController();
const queried: string[] = [];
const failed: string[] = [];
const cancelled: unknown[] = [];

function pollWith(backends: Readonly<Record<string, Backend['queryVideo']>>): PollJob {
  return createPoll({
    jobs: { advance: () => Promise.resolve(false) },
    telemetry: createUpstreamTelemetry({ metrics: createMetrics() }),
    router: {
      use: (name) => ({
        backend: {
          name,
          kind: 'cloud-video',
          capabilities: () => new Set(['video'] as const),
          probe: () => Promise.resolve({ state: 'Healthy', models: [] }),
          queryVideo: (taskId, signal) => {
            queried.push(name);
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
    fail: (_jobId, { message }) => Promise.resolve(void failed.push(message)),
    cancelTask: ({ backend, taskId }) => {
      cancelled.push([backend, taskId]);
      return Promise.resolve('nothing');
    },
    timing: createVideoTiming({ pollMs: 2_000, timeoutSecs: 60, clock }),
    clock,
    stopping: stopping.signal,
    queryTimeoutMs: 20,
  });
}

const unresponsive: Backend['queryVideo'] = (_taskId, signal) =>
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

test('after each timeout a job waits longer, and a slow upstream gets one query at a time', async () => {
  const poll = pollWith({ unresponsive, busy: pending });
  expect(await poll(jobOn('unresponsive'), {})).toEqual({
    afterMs: 4_000,
    memo: { failures: 1, unreadable: 0 },
  });
  const waiting = poll(jobOn('unresponsive'), { failures: 1 });
  expect(await poll(jobOn('unresponsive'), {})).toEqual({ afterMs: 2_000, memo: {} });
  expect(await poll(jobOn('busy'), {})).toEqual({ afterMs: 2_000 });
  expect(await waiting).toMatchObject({ afterMs: 8_000 });
  expect(queried).toEqual(['unresponsive', 'unresponsive', 'busy']);
  expect(failed).toEqual([]);
});

test('a job is polled again at its time limit at the latest, and its task is then cancelled', async () => {
  const poll = pollWith({ unresponsive });
  const job = jobOn('unresponsive');
  clock.advance(59_000);
  expect(await poll(job, { failures: 9 })).toMatchObject({ afterMs: 1_000 });
  clock.advance(1_000);
  expect(cancelled).toEqual([]);
  expect(await poll(job, { failures: 10 })).toBeUndefined();
  expect(cancelled).toEqual([['unresponsive', 'task']]);
  expect(failed.at(-1)).toContain('not finished within 60 s');
  failed.length = 0;
});

test('a stopping worker leaves its poll to other workers immediately', async () => {
  const poll = pollWith({ unresponsive });
  const polling = poll(jobOn('unresponsive'), { failures: 2 });
  stopping.abort();
  expect(await polling).toEqual({ afterMs: 0, memo: { failures: 2 } });
});
