import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBus, type Bus } from '@model-gateway/bus';
import { createDatabase, type Database } from '@model-gateway/db';
import { jwtCaller, VIDEO_QUEUED_CHANNEL } from '@model-gateway/inference';
import { newId, silentLog } from '@model-gateway/kernel';
import {
  createTestDatabase,
  startProcess,
  testRedisUrl,
  uniquePrefix,
  type TestProcess,
} from '@model-gateway/testkit';
import { observeJob, type ObservedJob } from './video-scene.ts';

/** Real worker processes on one database and one Redis, with a user who has jobs. */
export interface WorkerProcesses {
  readonly databaseUrl: string;
  readonly database: Database;
  readonly bus: Bus;
  readonly userId: string;
  start(): Promise<TestProcess>;
  register(name: string, url: string, models: readonly string[]): Promise<void>;
  /** Creates jobs like the APIs, and subscribes to each before it is announced to the workers. */
  create(model: string, count?: number): Promise<readonly ObservedJob[]>;
  /** Ends the processes and removes their stores. */
  close(): Promise<void>;
}

interface WorkerProcessesOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly redisUrl?: string;
}

const CREATED_AT_ONCE = 20;

export async function createWorkerProcesses({
  env = {},
  redisUrl = testRedisUrl(),
}: WorkerProcessesOptions): Promise<WorkerProcesses> {
  const testDatabase = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-workers-'));
  const prefix = uniquePrefix();
  const database = createDatabase({ databaseUrl: testDatabase.url, log: silentLog });
  const bus = createBus({ redisUrl, prefix, dataDir, log: silentLog });
  await bus.start();
  const started: TestProcess[] = [];
  const { id: userId } = await database.users.create({
    id: newId(),
    email: 'owner@example.com',
    name: 'Owner',
    passwordHash: 'not used',
  });

  async function createOne(model: string): Promise<ObservedJob> {
    const { modelPolicy: _policy, ...payer } = jwtCaller(userId);
    const { job } = await database.videoJobs.create({
      id: newId(),
      payer,
      model,
      resolvedModel: model,
      order: { prompt: 'a cat' },
      images: [],
      idempotencyKey: null,
      orderHash: null,
      allowedModels: null,
      unfinishedMax: 1_000,
    });
    const observed = await observeJob({ bus, database }, job.id);
    await bus.channels.publish(VIDEO_QUEUED_CHANNEL, job.id);
    return observed;
  }

  return {
    databaseUrl: testDatabase.url,
    database,
    bus,
    userId,
    async start() {
      const running = await startProcess({
        app: 'video-worker',
        env: {
          DATABASE_URL: testDatabase.url,
          REDIS_URL: redisUrl,
          SERVICE_REDIS_PREFIX: prefix,
          SERVICE_DATA_DIR: dataDir,
          ...env,
        },
      });
      started.push(running);
      return running;
    },
    register: (name, url, models) =>
      database.backendConfigs.save({
        name,
        type: 'cloud-video',
        url,
        apiKey: null,
        models,
        capabilities: null,
      }),
    async create(model, count = 1) {
      const jobs: ObservedJob[] = [];
      while (jobs.length < count) {
        const size = Math.min(CREATED_AT_ONCE, count - jobs.length);
        jobs.push(...(await Promise.all(Array.from({ length: size }, () => createOne(model)))));
      }
      return jobs;
    },
    async close() {
      await Promise.all(started.map((running) => running.stop()));
      await bus.close();
      await database.close();
      await testDatabase.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
