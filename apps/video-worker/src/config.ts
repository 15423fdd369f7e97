import { billingSettings } from '@model-gateway/billing';
import {
  busSettings,
  queueConnection,
  type QueueConnection,
  type RedisAccess,
} from '@model-gateway/bus';
import { databaseSettings } from '@model-gateway/db';
import { absoluteDataDir, serverSettings } from '@model-gateway/http';
import {
  integer,
  loadConfig,
  setting,
  withDefault,
  type ConfigOf,
  type Environment,
} from '@model-gateway/kernel';
import { mailSettings, webhookSettings } from '@model-gateway/outbound';
import { routingSettings } from '@model-gateway/service';
import { tracingSettings } from '@model-gateway/telemetry';

const PORT_DEFAULT = 8083;
const POLL_MS_MAX = 3_600_000;
const DAYS_MAX = 3_650;

/** Settings of the video worker. */
export const videoWorkerSettings = {
  ...billingSettings,
  ...routingSettings,
  requestLogDays: setting('SERVICE_REQUEST_LOG_DAYS', withDefault(integer(1, DAYS_MAX), 30), {
    description:
      'How many days failed requests and the attempts of metered ones are kept. Usage rows stay.',
  }),
  requestBodiesDays: setting('SERVICE_REQUEST_BODIES_DAYS', withDefault(integer(1, DAYS_MAX), 7), {
    description: 'How many days the bodies of requests are kept, where they are.',
  }),
  ...webhookSettings,
  ...mailSettings,
  videoConcurrency: setting('SERVICE_VIDEO_CONCURRENCY', withDefault(integer(1, 1000), 4), {
    description: 'How many video jobs one worker processes at a time; waiting jobs do not count.',
  }),
  videoPollMs: setting('SERVICE_VIDEO_POLL_MS', withDefault(integer(1, POLL_MS_MAX), 2000), {
    description:
      'How many milliseconds after a response the upstream of a video job is queried again.',
  }),
  videoTimeoutSecs: setting('SERVICE_VIDEO_TIMEOUT_SECS', withDefault(integer(1), 1800), {
    description:
      'How many seconds a video job may wait for a backend, and then how many seconds it may run.',
  }),
};

/** Everything that this process reads from its environment. */
export const processSettings = {
  ...serverSettings(PORT_DEFAULT),
  ...tracingSettings,
  ...databaseSettings,
  ...busSettings,
  ...videoWorkerSettings,
};

/** The part that the app itself uses; the process handles ports and stores. */
export type VideoWorkerConfig = Pick<
  ConfigOf<typeof processSettings>,
  keyof typeof videoWorkerSettings | 'buildHash' | 'redisPrefix'
> & {
  /** The Redis of the queues. */
  readonly queueRedisUrl: string;
  readonly queueRedisAccess?: RedisAccess;
};

/** How the queues reach their Redis. */
export const queueConnectionOf = (config: VideoWorkerConfig): QueueConnection =>
  queueConnection({
    redisUrl: config.queueRedisUrl,
    redisAccess: config.queueRedisAccess ?? {},
    prefix: config.redisPrefix,
  });

/** Reads the configuration of the commands that work on the database. */
export function readStoreCommandConfig() {
  const { databaseUrl } = databaseSettings;
  const { pointsPerUsd } = billingSettings;
  return loadConfig({ databaseUrl, pointsPerUsd }, process.env);
}

/** Reads the configuration of a video-worker process. */
export function readVideoWorkerConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  return {
    ...config,
    queueRedisUrl: config.redisUrl,
    queueRedisAccess: config,
    dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']),
  };
}
