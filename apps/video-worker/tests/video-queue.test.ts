import {
  createTestContext,
  testRedisUrl,
  uniquePrefix,
  type TestContext,
} from '@model-gateway/testkit';
import { Queue, QueueEvents } from 'bullmq';
import { createVideoQueue } from '../src/video-queue.ts';

let test_: TestContext;
beforeAll(async () => {
  test_ = await createTestContext();
});
afterAll(() => test_.close());

test('a job runs the step of its name, and a name without a step fails at once', async () => {
  const { metrics, log } = test_.context;
  const connection = { url: testRedisUrl() };
  const prefix = uniquePrefix();
  const ran: unknown[] = [];
  const videoQueue = createVideoQueue({
    redisUrl: testRedisUrl(),
    prefix,
    concurrency: 2,
    steps: {
      submit: async (job) => {
        ran.push(job.data);
      },
    },
    metrics,
    log,
  });
  await videoQueue.start();
  const queue = new Queue('video', { connection, prefix });
  const events = new QueueEvents('video', { connection, prefix });
  await events.waitUntilReady();
  const known = await queue.add('submit', { job: 1 });
  const unknown = await queue.add('dance', {}, { attempts: 5 });
  await known.waitUntilFinished(events);
  await expect(unknown.waitUntilFinished(events)).rejects.toThrow("no step is called 'dance'");
  expect(ran).toEqual([{ job: 1 }]);
  expect(await metrics.expose()).toContain('service_video_queue_depth 0');
  await events.close();
  await queue.obliterate({ force: true });
  await queue.close();
  await videoQueue.stop();
});
