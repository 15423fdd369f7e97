import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';

// In a process of its own: the library tells buffers apart by their class, which differs between jest's realm and Node's.
const PROGRAM = join(import.meta.dirname, 'serve-queue-redis.ts');

let store: ChildProcess;
let url: string;

beforeEach(async () => {
  const conditions = '--conditions=model-gateway-source';
  store = spawn(process.execPath, ['--no-warnings', conditions, PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (store.stdout === null) throw new Error('the output of the process is a pipe');
  [url] = (await once(createInterface(store.stdout), 'line')) as [string];
});

afterEach(async () => {
  if (store.exitCode !== null) return;
  store.kill('SIGTERM');
  await once(store, 'exit');
});

test('BullMQ adds a job, runs it and returns its result', async () => {
  const connection = { url, maxRetriesPerRequest: null };
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
  const { host, hostname } = new URL(url);
  expect(hostname).toBe('127.0.0.1');
  const unauthenticated = new Redis(`redis://${host}`, { maxRetriesPerRequest: 0 });
  unauthenticated.on('error', () => undefined);
  await expect(unauthenticated.set('key', 'value')).rejects.toThrow('NOAUTH');
  unauthenticated.disconnect();
});

test('it stops while clients are connected', async () => {
  const client = new Redis(url, { retryStrategy: () => null });
  client.on('error', () => undefined);
  expect(await client.ping()).toBe('PONG');
  store.kill('SIGTERM');
  expect(await once(store, 'exit')).toEqual([0, null]);
  client.disconnect();
});
