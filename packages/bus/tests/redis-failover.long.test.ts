import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '@model-gateway/kernel';
import { createBus, type Bus } from '../src/index.ts';
import { eventually } from './eventually.ts';
import { createClusterRedis, createSentinelRedis, type Deployment } from './servers/deployments.ts';
import { newPrefix } from './subjects.ts';
import { makeTemporaryDirectory, removeDirectory } from './temporary-directory.ts';

const TEST_TIMEOUT_MS = 300_000;
const APPEND_EVERY_MS = 2;

const FAULTS = [
  { fault: 'is killed', doFault: (deployment: Deployment) => killPrimary(deployment) },
  { fault: 'stops answering', doFault: (deployment: Deployment) => freezePrimary(deployment) },
] as const;

const tagged = (prefix: string): string => `{${prefix.replace(/:$/, '')}}:`;

describe.each([
  { name: 'Sentinel', create: () => createSentinelRedis() },
  { name: 'Cluster', create: (prefix: string) => createClusterRedis(tagged(prefix)) },
])('a primary of $name', ({ create }) => {
  let deployment: Deployment;
  let dataDir: string;
  let bus: Bus;

  beforeEach(async () => {
    const prefix = newPrefix();
    deployment = await create(prefix);
    dataDir = await makeTemporaryDirectory();
    const { url: redisUrl, access: redisAccess } = deployment;
    bus = createBus({ redisUrl, redisAccess, prefix, dataDir, log: silentLog });
    await bus.start();
  }, TEST_TIMEOUT_MS);

  afterEach(async () => {
    await bus.close();
    await deployment.remove();
    await removeDirectory(dataDir);
  });

  test.each(FAULTS)(
    'that $fault is replaced by its replica: no append fails, none is lost, and messages arrive again',
    async ({ doFault }) => {
      const before = await deployment.primary();
      const recorded = new Set<string>();
      const stop = new AbortController();
      const draining = bus.journal.drain(
        (batch) => {
          for (const { id } of batch) recorded.add(id);
          return Promise.resolve();
        },
        { batchSize: 100, signal: stop.signal },
      );
      const messages: string[] = [];
      await bus.channels.subscribe('news', (message) => void messages.push(message));
      const appends = startAppending(bus);

      await eventually('some are recorded', () => recorded.size > 20);
      await doFault(deployment);
      await eventually('this process is alone', () => bus.mode() === 'local');
      await eventually('the replica took over', () => bus.mode() === 'redis');
      expect((await deployment.primary()).port).not.toBe(before.port);
      await eventually('messages arrive again', async () => {
        await bus.channels.publish('news', 'after');
        return messages.includes('after');
      });

      const appended = await appends.stop();
      await eventually('all are recorded', () => recorded.size === appended.length);
      expect([...recorded].toSorted()).toEqual(appended.toSorted());
      stop.abort();
      await draining;
    },
    TEST_TIMEOUT_MS,
  );
});

test('Sentinels that do not know the name are reported at the start', async () => {
  const deployment = await createSentinelRedis();
  const dataDir = await makeTemporaryDirectory();
  const bus = createBus({
    redisUrl: deployment.url,
    redisAccess: { ...deployment.access, redisMaster: 'other' },
    dataDir,
    log: silentLog,
  });
  try {
    await expect(bus.start()).rejects.toThrow(
      /^(?!.*of-redis).*other of the Sentinels 127\.0\.0\.1/,
    );
  } finally {
    await bus.close();
    await deployment.remove();
    await removeDirectory(dataDir);
  }
}, 300_000);

/** Appends all the time; every append has to succeed. */
function startAppending({ journal }: Bus) {
  const appended: string[] = [];
  let isRunning = true;
  async function append(): Promise<void> {
    while (isRunning) {
      const id = `entry-${appended.length}`;
      await journal.append({ id, body: '{}' });
      appended.push(id);
      await delay(APPEND_EVERY_MS);
    }
  }
  const running = append();
  return {
    async stop() {
      isRunning = false;
      await running;
      return appended;
    },
  };
}

async function killPrimary(deployment: Deployment): Promise<void> {
  await (await deployment.primary()).kill();
}

async function freezePrimary(deployment: Deployment): Promise<void> {
  (await deployment.primary()).freeze();
}
