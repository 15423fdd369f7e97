import { queueConnection } from '@model-gateway/bus';
import { newId, silentLog } from '@model-gateway/kernel';
import {
  createGate,
  createTestContext,
  openStoreLine,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import { createJobQueue, type RunJobStep, type JobStep, type JobQueue } from '../src/job-queue.ts';

let test_: TestContext;
const running: JobQueue[] = [];
beforeEach(async () => {
  test_ = await createTestContext();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((queue) => queue.stop()));
  await test_.close();
});

async function startQueue(
  runStep: RunJobStep,
  redisUrl = testRedisUrl(),
  log = test_.context.log,
): Promise<JobQueue> {
  const { metrics } = test_.context;
  const prefix = uniquePrefix();
  const queue = createJobQueue({
    queueName: 'video',
    redis: queueConnection({ redisUrl, redisAccess: {}, prefix }),
    concurrency: 2,
    runStep,
    metrics,
    log,
  });
  await queue.start();
  running.push(queue);
  return queue;
}

test('a Redis that stays lost is logged once a minute, not with each failure', async () => {
  const line = await openStoreLine(testRedisUrl());
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text: string) => void warnings.push(text) };
  await startQueue(() => Promise.resolve(undefined), line.url, log);
  line.cut();
  await waitUntil(() => line.refusals >= 5, { what: 'refused connections' });
  expect(warnings).toEqual(['the Redis connection of a queue failed']);
  await line.close();
});

test('a job runs its steps until the last one, and each step gets the state of the one before', async () => {
  const steps: JobStep[] = [];
  const queue = await startQueue((step) => {
    steps.push(step);
    const { failures = 0 } = step.memo;
    return Promise.resolve(
      failures < 2 ? { afterMs: 1, memo: { failures: failures + 1 } } : undefined,
    );
  });
  const jobId = newId();
  await queue.add([jobId]);
  await waitUntil(() => steps.length === 3, { what: 'three steps' });
  const isTakenOver = false;
  expect(steps).toEqual([
    { jobId, memo: {}, isTakenOver },
    { jobId, memo: { failures: 1 }, isTakenOver },
    { jobId, memo: { failures: 2 }, isTakenOver },
  ]);
  await waitUntil(async () => (await queue.jobIds()).size === 0, { what: 'an empty queue' });
});

test('a job is in the queue once, however often it is added, and can be added again after its end', async () => {
  const { metrics } = test_.context;
  let end = (): void => undefined;
  let steps = 0;
  const queue = await startQueue(
    () =>
      new Promise((resolve) => {
        steps += 1;
        end = () => resolve(undefined);
      }),
  );
  const jobId = newId();
  await queue.add([jobId, jobId]);
  await waitUntil(() => steps === 1, { what: 'the first step' });
  await queue.add([jobId]);
  expect([...(await queue.jobIds())]).toEqual([jobId]);
  expect(await metrics.expose()).toContain('service_video_queue_depth 0');
  end();
  await waitUntil(async () => (await queue.jobIds()).size === 0, { what: 'an empty queue' });
  await queue.add([jobId]);
  await waitUntil(() => steps === 2, { what: 'the second step' });
  end();
});

test('a step that fails is tried again', async () => {
  let steps = 0;
  const queue = await startQueue(() => {
    steps += 1;
    return steps === 1
      ? Promise.reject(new Error('the database is unavailable'))
      : Promise.resolve(undefined);
  });
  await queue.add([newId()]);
  await waitUntil(() => steps === 2, { what: 'the second step' });
  expect(steps).toBe(2);
});

test.each([
  { why: 'all connections', command: '', connections: 3 },
  { why: 'only the connection that waits for jobs', command: 'bzpopmin', connections: 1 },
])(
  'a stop ends while $why to Redis must be made again, after the step that runs',
  async ({ command, connections }) => {
    const line = await openStoreLine(testRedisUrl());
    const entered = createGate();
    const finish = createGate();
    const events: string[] = [];
    const queue = await startQueue(async () => {
      entered.open();
      await finish.opened;
      events.push('step ended');
      return undefined;
    }, line.url);
    await queue.add([newId()]);
    await entered.opened;
    await waitUntil(() => line.cutWhere(command), { what: `a connection that sent ${command}` });
    // The client pauses longer after each refusal, so that the stop finds it in a pause.
    await waitUntil(() => line.refusals >= 3 * connections, { what: 'refused connections' });
    const stopped = queue.stop().then(() => events.push('stopped'));
    finish.open();
    await stopped;
    expect(events).toEqual(['step ended', 'stopped']);
    await line.close();
  },
);
