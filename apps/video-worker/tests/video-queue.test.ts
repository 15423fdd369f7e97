import { newId } from '@model-gateway/kernel';
import {
  createTestContext,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import { createVideoQueue, type MoveJob, type Turn, type VideoQueue } from '../src/video-queue.ts';

let test_: TestContext;
const running: VideoQueue[] = [];
beforeEach(async () => {
  test_ = await createTestContext();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((queue) => queue.stop()));
  await test_.close();
});

async function startQueue(move: MoveJob): Promise<VideoQueue> {
  const { metrics, log } = test_.context;
  const redisUrl = testRedisUrl();
  const prefix = uniquePrefix();
  const queue = createVideoQueue({ redisUrl, prefix, concurrency: 2, move, metrics, log });
  await queue.start();
  running.push(queue);
  return queue;
}

test('a job has its turns until nothing comes after, and each gets what the one before left', async () => {
  const turns: Turn[] = [];
  const queue = await startQueue((turn) => {
    turns.push(turn);
    const { failures = 0 } = turn.memo;
    return Promise.resolve(
      failures < 2 ? { afterMs: 1, memo: { failures: failures + 1 } } : undefined,
    );
  });
  const jobId = newId();
  await queue.add([jobId]);
  await waitUntil(() => turns.length === 3, { what: 'three turns' });
  const isTakenOver = false;
  expect(turns).toEqual([
    { jobId, memo: {}, isTakenOver },
    { jobId, memo: { failures: 1 }, isTakenOver },
    { jobId, memo: { failures: 2 }, isTakenOver },
  ]);
  await waitUntil(async () => (await queue.jobIds()).size === 0, { what: 'an empty queue' });
});

test('a job is in the queue once, however often it is added, and can be added again afterwards', async () => {
  const { metrics } = test_.context;
  let end = (): void => undefined;
  let turns = 0;
  const queue = await startQueue(
    () =>
      new Promise((resolve) => {
        turns += 1;
        end = () => resolve(undefined);
      }),
  );
  const jobId = newId();
  await queue.add([jobId, jobId]);
  await waitUntil(() => turns === 1, { what: 'the first turn' });
  await queue.add([jobId]);
  expect([...(await queue.jobIds())]).toEqual([jobId]);
  expect(await metrics.expose()).toContain('service_video_queue_depth 0');
  end();
  await waitUntil(async () => (await queue.jobIds()).size === 0, { what: 'an empty queue' });
  await queue.add([jobId]);
  await waitUntil(() => turns === 2, { what: 'the second turn' });
  end();
});

test('a step that fails is tried again', async () => {
  let turns = 0;
  const queue = await startQueue(() => {
    turns += 1;
    return turns === 1
      ? Promise.reject(new Error('the database is away'))
      : Promise.resolve(undefined);
  });
  await queue.add([newId()]);
  await waitUntil(() => turns === 2, { what: 'the second turn' });
  expect(turns).toBe(2);
});
