import { setTimeout as delay } from 'node:timers/promises';
import { startPeerTimeout } from '@model-gateway/kernel';
import { Redis, type Command, type RedisOptions } from 'ioredis';
import { accessOptions, isFromWrongServer, retryDelay, type RedisTarget } from './redis-access.ts';

type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/** How long a command may take before Redis counts as unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;

const CONNECT_TIMEOUT_MS = 2_000;
const DISCONNECT_TIMEOUT_MS = 250;
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
  keepAlive: KEEP_ALIVE_MS,
  maxLoadingRetryTime: LOADING_CHECK_MS,
  retryStrategy: retryDelay,
  reconnectOnError: (error) => isFromWrongServer(error.message),
};

/** A command had no reply within the command timeout. */
export class CommandTimeout extends Error {
  override readonly name = 'CommandTimeout';
}

// Not the client's own `commandTimeout`: it fails a command whose reply waits in the socket when this process was stalled.
class TimedRedis extends Redis {
  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const timeout = startPeerTimeout(COMMAND_TIMEOUT_MS, () =>
      command.reject(new CommandTimeout('Command timed out')),
    );
    const stop = (): void => timeout.stop();
    command.promise.then(stop, stop);
    return super.sendCommand(command, stream);
  }
}

/** A client for one connection, not yet connected. */
export function createRedisClient(target: RedisTarget, overrides: ClientOptions = {}): Redis {
  return new TimedRedis(target.url, { ...OPTIONS, ...accessOptions(target), ...overrides });
}

/** A client for commands that wait in Redis. The caller bounds them. */
export function createBlockingRedisClient(target: RedisTarget): Redis {
  return new Redis(target.url, { ...OPTIONS, ...accessOptions(target), enableOfflineQueue: true });
}

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
