import { setTimeout as delay } from 'node:timers/promises';
import { Command, Redis, type RedisOptions } from 'ioredis';

type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/** How long a command may take before Redis counts as unavailable. */
export const COMMAND_TIMEOUT_MS = 1_000;

const CONNECT_TIMEOUT_MS = 2_000;
const DISCONNECT_TIMEOUT_MS = 250;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 2_000;
const RETRY_JITTER_MS = 50;
const KEEP_ALIVE_MS = 10_000;
const LOADING_CHECK_MS = 250;
const CLOSE_TIMEOUT_MS = 1_000;

// Nothing waits for a connection and nothing is sent twice: a caller gets a reply in time or an error, and the local store
// takes over. Only the attempts to connect continue forever.
const OPTIONS: ClientOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  // The channels adapter subscribes again, since it must know when that is done.
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_TIMEOUT_MS,
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  keepAlive: KEEP_ALIVE_MS,
  maxLoadingRetryTime: LOADING_CHECK_MS,
  retryStrategy: (attempt) =>
    Math.min(RETRY_MIN_MS * 2 ** Math.min(attempt - 1, 10), RETRY_MAX_MS) +
    Math.floor(Math.random() * RETRY_JITTER_MS),
  // A demoted primary keeps replying; a new connection reaches the new primary.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
};

/** A client for one connection, not yet connected. */
export function createRedisClient(url: string, overrides: ClientOptions = {}): Redis {
  return new Redis(url, { ...OPTIONS, ...overrides });
}

/** Sends a command at once, without the batching of the client's methods. */
export const sendNow = (client: Redis, name: string, values: readonly string[]): Promise<unknown> =>
  Promise.resolve(client.sendCommand(new Command(name, [...values], { replyEncoding: 'utf8' })));

/** Closes a connection and waits until its socket is closed. */
export async function closeRedisClient(client: Redis): Promise<void> {
  if (client.status === 'end') return;
  if (client.status === 'reconnecting') {
    client.disconnect();
    // The client keeps a timer for a lost socket for this long, which nothing else ends.
    return delay(DISCONNECT_TIMEOUT_MS);
  }
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    client.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    client.disconnect();
  });
}

/** The address of a Redis, without the credentials. */
export function describeRedisUrl(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
