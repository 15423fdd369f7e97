import { sessionChannel, type RpcNotification, type VideoRequest } from '@model-gateway/contracts';
import {
  createRequestCounter,
  createVideoJobs,
  createVideoNotifications,
  jwtCaller,
  type Caller,
  type VideoJob,
  type VideoJobs,
} from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import { createServiceRouter } from '@model-gateway/service';
import {
  createTestContext,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { createVideoWorker } from '../src/app.ts';
import { readVideoWorkerConfig } from '../src/config.ts';

/** A video worker on real stores, with a user and an upstream whose model is `v-1`. */
export interface VideoScene {
  readonly test: TestContext;
  readonly video: RunningCloudVideo;
  readonly router: Router;
  readonly jobs: VideoJobs;
  readonly userId: string;
  /** Creates a job and subscribes to its notifications from the start. */
  create(request?: Partial<VideoRequest>, caller?: Caller): Promise<ObservedJob>;
  close(): Promise<void>;
}

export interface ObservedJob {
  readonly id: string;
  /** The notifications so far: the progress, or the final status. */
  readonly notified: readonly (number | string)[];
  readonly notifications: readonly RpcNotification[];
  state(): Promise<VideoJob>;
  /** Resolves when it has ended and the notification has arrived. */
  ended(): Promise<VideoJob>;
}

interface VideoSceneOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly upstream?: Parameters<typeof startCloudVideo>[0];
}

export const POLL_MS = 40;

export async function startVideoScene(options: VideoSceneOptions = {}): Promise<VideoScene> {
  const test = await createTestContext();
  const video = await startCloudVideo(options.upstream);
  const { context } = test;
  const config = readVideoWorkerConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: uniquePrefix(),
    SERVICE_VIDEO_POLL_MS: String(POLL_MS),
    SERVICE_BREAKER_FAILURES: '1000',
    ...options.env,
  });
  const router = createServiceRouter(config, context);
  await router.start();
  await registerVideo(router, 'cloud', video.url, ['v-1']);
  await test.serve(createVideoWorker(config, context, { router }));
  const { id: userId } = await context.database.users.create({
    id: newId(),
    email: `${newId()}@example.com`,
    name: 'Owner',
    passwordHash: 'not used',
  });
  const observed = new Map<string, ObservedJob>();
  const jobs = videoJobsOf(test, router, async (id) => {
    observed.set(id, await observeJob(context, id));
  });
  return {
    test,
    video,
    router,
    jobs,
    userId,
    async create(request = {}, caller = jwtCaller(userId)) {
      const whole = { model: 'v-1', prompt: 'a cat', ...request };
      const { id } = await jobs.create(caller, whole, router.aliases.resolve(whole.model), {
        reservation: unlimitedReservation(),
      });
      return observed.get(id) ?? observeJob(context, id);
    },
    async close() {
      await test.close();
      await router.stop();
      await video.close();
    },
  };
}

export async function registerVideo(
  router: Router,
  name: string,
  url: string,
  models: readonly string[],
): Promise<void> {
  const registration = { name, type: 'cloud-video', url, apiKey: null, models, capabilities: null };
  await router.registry.register(registration);
}

/** The reservation of a job that no quota limits. */
const unlimitedReservation = () => ({
  id: newId(),
  isHolding: false,
  end: () => undefined,
  endCall: () => undefined,
  extend: () => undefined,
});

/** Creates and cancels jobs like the APIs; a callback runs before a job is announced to the workers. */
function videoJobsOf(
  { context }: TestContext,
  router: Router,
  beforeAnnouncement: (jobId: string) => Promise<void>,
): VideoJobs {
  const { database, bus, clock, log } = context;
  const channels = {
    async publish(channel: string, message: string) {
      await beforeAnnouncement(message);
      return bus.channels.publish(channel, message);
    },
  };
  return createVideoJobs({
    store: database.videoJobs,
    pricing: database.videoPricing,
    admission: bus.admission,
    unfinishedPerUserMax: 1_000,
    router,
    requests: createRequestCounter({ counters: bus.counters, clock, log }),
    notifications: createVideoNotifications({ channels: bus.channels, log }),
    channels,
    entries: bus.entries,
    log,
  });
}

/** Subscribes to the notifications of a job. */
export async function observeJob(
  { bus, database }: Pick<TestContext['context'], 'bus' | 'database'>,
  id: string,
): Promise<ObservedJob> {
  const notifications: RpcNotification[] = [];
  const notified: (number | string)[] = [];
  await bus.channels.subscribe(sessionChannel(id), (text) => {
    const notification = JSON.parse(text) as RpcNotification;
    notifications.push(notification);
    notified.push(outcomeOf(notification));
  });
  const state = async (): Promise<VideoJob> => {
    const job = await database.videoJobs.find(id);
    if (job === undefined) throw new Error(`job ${id} not found`);
    return job;
  };
  return {
    id,
    notified,
    notifications,
    state,
    async ended() {
      await waitUntil(() => typeof notified.at(-1) === 'string', {
        what: 'the end of a video job',
      });
      return state();
    },
  };
}

function outcomeOf(notification: RpcNotification): number | string {
  switch (notification.method) {
    case 'video.progress':
      return notification.params.progress;
    case 'video.done':
    case 'video.failed':
      return notification.params.status;
    default:
      return notification.method;
  }
}

/** How often a job was submitted, as its upstream saw it. */
export const submissionsOf = ({ requests }: RunningCloudVideo, { id }: ObservedJob): number =>
  requests.filter(({ method, headers }) => method === 'POST' && headers['idempotency-key'] === id)
    .length;

/** The usage rows of a job's user, the newest first. */
export async function usageOf({ context }: TestContext, userId: string) {
  return (await context.database.usage.list({ userId, limit: 100, offset: 0 })).records;
}
