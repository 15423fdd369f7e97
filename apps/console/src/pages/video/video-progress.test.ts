import type { RpcEvent } from '@model-gateway/client';
import { withVideoEvent } from './video-progress.ts';

type Jobs = NonNullable<Parameters<typeof withVideoEvent>[0]>;

const page = (jobs: Jobs['jobs']): Jobs => ({ jobs, has_more: false, before: null });

const job = (id: string, progress: number): Jobs['jobs'][number] =>
  ({ job_id: id, status: 'queued', progress }) as Jobs['jobs'][number];

const event = (method: string, params: object): RpcEvent =>
  ({ jsonrpc: '2.0', method, params }) as RpcEvent;

test('progress changes the job that it is about', () => {
  const jobs = page([job('a', 0), job('b', 5)]);
  const progress = event('video.progress', { job_id: 'b', status: 'running', progress: 40 });
  expect(withVideoEvent(jobs, progress)).toEqual(
    page([job('a', 0), { ...job('b', 40), status: 'running' }]),
  );
});

test.each(['video.done', 'video.failed'])('after %s the list is asked for again', (method) => {
  expect(withVideoEvent(page([job('a', 99)]), event(method, { job_id: 'a' }))).toBe('ended');
});

test('other events change nothing', () => {
  const jobs = page([job('a', 0)]);
  expect(withVideoEvent(jobs, event('requests.changed', {}))).toBe(jobs);
});
