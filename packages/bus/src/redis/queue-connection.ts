import {
  accessOptions,
  isFromWrongServer,
  keyPrefix,
  type AccessOptions,
  type RedisAccess,
} from './redis-access.ts';

/** What a queue of BullMQ needs to know about Redis. */
export interface QueueConnection {
  /** The prefix of every key of the queue. */
  readonly prefix: string;
  readonly connection: AccessOptions & {
    readonly url: string;
    readonly maxRetriesPerRequest: null;
    readonly retryStrategy: (attempt: number) => number;
    readonly reconnectOnError: (error: Error) => false | 2;
  };
}

interface QueueConnectionOptions {
  readonly redisUrl: string;
  readonly redisAccess: RedisAccess;
  readonly prefix: string;
}

const RECONNECT_DELAY_MS_MAX = 5_000;
/** Connect again and then send the command, which the wrong server has not carried out. */
const RECONNECT_AND_RESEND = 2;

/** The connection options of queues. Their commands wait for Redis, unlike those of requests. */
export function queueConnection({
  redisUrl,
  redisAccess,
  prefix,
}: QueueConnectionOptions): QueueConnection {
  const keys = keyPrefix(prefix, redisAccess);
  return {
    prefix: `${keys}queue`,
    connection: {
      url: redisUrl,
      ...accessOptions({ ...redisAccess, url: redisUrl, prefix: keys }),
      maxRetriesPerRequest: null,
      retryStrategy: (attempt) => Math.min(attempt * 200, RECONNECT_DELAY_MS_MAX),
      reconnectOnError: (error) =>
        isFromWrongServer(error.message) ? RECONNECT_AND_RESEND : false,
    },
  };
}
