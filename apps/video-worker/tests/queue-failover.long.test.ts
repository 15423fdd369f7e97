import { queueConnection } from '@model-gateway/bus';
import { newId } from '@model-gateway/kernel';
import {
  createTestContext,
  uniquePrefix,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import {
  createClusterRedis,
  createSentinelRedis,
  type Deployment,
} from '../../../packages/bus/tests/servers/deployments.ts';
import { createJobQueue, type JobQueue } from '../src/job-queue.ts';

const TEST_TIMEOUT_MS = 300_000;
const STEPS = 3;
const tagged = (prefix: string): string => `{${prefix.replace(/:$/, '')}}:`;

describe.each([
  { name: 'Sentinel', create: () => createSentinelRedis() },
  { name: 'Cluster', create: (prefix: string) => createClusterRedis(tagged(prefix)) },
])('the queue on a $name', ({ create }) => {
  let test_: TestContext;
  let deployment: Deployment;
  let queue: JobQueue;
  const steps = new Map<string, number>();

  beforeEach(async () => {
    test_ = await createTestContext();
    const prefix = uniquePrefix();
    deployment = await create(prefix);
    const { url: redisUrl, access: redisAccess } = deployment;
    steps.clear();
    queue = createJobQueue({
      queueName: 'video',
      redis: queueConnection({ redisUrl, redisAccess, prefix }),
      concurrency: 4,
      runStep: ({ jobId }) => {
        const count = (steps.get(jobId) ?? 0) + 1;
        steps.set(jobId, count);
        return Promise.resolve(count < STEPS ? { afterMs: 50 } : undefined);
      },
      metrics: test_.context.metrics,
      log: test_.context.log,
    });
    await queue.start();
  }, TEST_TIMEOUT_MS);

  afterEach(async () => {
    await queue.stop();
    await deployment.remove();
    await test_.close();
  });

  const areDone = (jobIds: readonly string[]) => () =>
    jobIds.every((jobId) => (steps.get(jobId) ?? 0) >= STEPS);

  test(
    'runs every step of its jobs, and goes on with the replica when the primary is killed',
    async () => {
      const first = Array.from({ length: 20 }, () => newId());
      await queue.add(first);
      await waitUntil(areDone(first), { what: 'the steps before the fail-over' });

      const before = await deployment.primary();
      await before.kill();
      await waitUntil(
        async () => (await deployment.primary().catch(() => before)).port !== before.port,
        { what: 'another primary', timeoutMs: 60_000 },
      );
      const second = Array.from({ length: 20 }, () => newId());
      await queue.add(second);
      await waitUntil(areDone(second), {
        what: 'the steps after the fail-over',
        timeoutMs: 60_000,
      });
      await waitUntil(async () => (await queue.jobIds()).size === 0, { what: 'an empty queue' });
    },
    TEST_TIMEOUT_MS,
  );
});
