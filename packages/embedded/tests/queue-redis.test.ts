import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { startQueueRedis, type QueueRedis } from '../src/queue-redis.ts';

let store: QueueRedis;

beforeEach(async () => {
  store = await startQueueRedis();
});

afterEach(() => store.stop());

test('BullMQ adds a job, runs it and returns its result', async () => {
  const connection = { url: store.url, maxRetriesPerRequest: null };
  const queue = new Queue('video', { connection });
  const events = new QueueEvents('video', { connection });
  await events.waitUntilReady();
  const worker = new Worker('video', async (job) => ({ doubled: job.data.value * 2 }), {
    connection,
  });
  const job = await queue.add('render', { value: 21 }, { attempts: 3, backoff: 10 });
  expect(await job.waitUntilFinished(events)).toEqual({ doubled: 42 });
  await worker.close();
  await events.close();
  await queue.close();
});

test('it listens on the loopback address and requires its password', async () => {
  const { host, hostname } = new URL(store.url);
  expect(hostname).toBe('127.0.0.1');
  const unauthenticated = new Redis(`redis://${host}`, { maxRetriesPerRequest: 0 });
  unauthenticated.on('error', () => undefined);
  await expect(unauthenticated.set('key', 'value')).rejects.toThrow('NOAUTH');
  unauthenticated.disconnect();
});

test('it stops while clients are connected', async () => {
  const other = await startQueueRedis();
  const client = new Redis(other.url, { retryStrategy: () => null });
  client.on('error', () => undefined);
  expect(await client.ping()).toBe('PONG');
  await other.stop();
  client.disconnect();
});
