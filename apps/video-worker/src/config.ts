import { billingSettings } from '@model-gateway/billing';
import { busSettings } from '@model-gateway/bus';
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

const PORT_DEFAULT = 8083;

/** What the video worker can be told. */
export const videoWorkerSettings = {
  ...billingSettings,
  videoConcurrency: setting('SERVICE_VIDEO_CONCURRENCY', withDefault(integer(1, 1000), 4), {
    description: 'How many video jobs one worker moves at a time.',
    defaultText: '4',
  }),
};

/** Everything that this process reads from its environment. */
export const processSettings = {
  ...serverSettings(PORT_DEFAULT),
  ...databaseSettings,
  ...busSettings,
  ...videoWorkerSettings,
};

/** What the app itself reads; ports and stores are its process's business. */
export type VideoWorkerConfig = Pick<
  ConfigOf<typeof processSettings>,
  keyof typeof videoWorkerSettings | 'buildHash' | 'redisPrefix'
> & {
  /** The Redis that carries the video queue. */
  readonly queueRedisUrl: string;
};

/** Reads the configuration of a video-worker process. */
export function readVideoWorkerConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  return {
    ...config,
    queueRedisUrl: config.redisUrl,
    dataDir: absoluteDataDir(config.dataDir, environment['INIT_CWD']),
  };
}
