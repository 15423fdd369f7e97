import { describeError, type Log } from '@model-gateway/kernel';
import type { Redis } from 'ioredis';
import { closeRedisClient, CommandTimeout } from './redis-client.ts';

/** One connection that knows whether it is usable, detects a hanging Redis, and reconnects. */
export interface SupervisedClient {
  ready(): boolean;
  /** Rejects at once when the connection is not ready, and within the command timeout in any case. */
  run<Answer>(command: (client: Redis) => Promise<Answer>): Promise<Answer>;
  /** Stops using the connection and makes a new one. */
  drop(): void;
  /** Rejects with the reason when the first attempt fails. */
  start(): Promise<void>;
  close(): Promise<void>;
}

// A command was not sent, since Redis is unavailable.
class RedisUnavailableError extends Error {
  override readonly name = 'RedisAwayError';
}

interface SupervisedOptions {
  readonly client: Redis;
  readonly log: Log;
  readonly onChange: () => void;
  /** Runs on each new connection before it is used. */
  readonly prepare?: (client: Redis) => Promise<void>;
}

const HEARTBEAT_MS = 2_000;
const START_TIMEOUT_MS = 10_000;

export function createSupervisedClient(options: SupervisedOptions): SupervisedClient {
  const { client, log, onChange, prepare = () => Promise.resolve() } = options;
  let ready = false;
  let closing = false;
  let connection = 0;
  let lastError: unknown;
  let prepared: Promise<void> = Promise.resolve();
  let heartbeat: NodeJS.Timeout | undefined;

  function setReady(value: boolean): void {
    if (ready === value) return;
    ready = value;
    onChange();
  }

  function drop(): void {
    connection += 1;
    setReady(false);
    if (!closing) client.disconnect(true);
  }

  async function prepareConnection(): Promise<void> {
    connection += 1;
    const prepares = connection;
    try {
      await prepare(client);
      if (prepares === connection) setReady(true);
    } catch (error) {
      lastError = error;
      log.debug({ error }, 'preparing a new Redis connection failed');
      if (prepares === connection) drop();
    }
  }

  async function run<Answer>(command: (client: Redis) => Promise<Answer>): Promise<Answer> {
    if (!ready) throw new RedisUnavailableError('Redis is unavailable');
    const usedConnection = connection;
    try {
      return await command(client);
    } catch (error) {
      // A hanging Redis keeps its connections open; without this every caller would wait for the timeout.
      if (error instanceof CommandTimeout && usedConnection === connection) drop();
      throw error;
    }
  }

  client.on('error', (error: unknown) => {
    lastError = error;
    log.debug({ reason: describeError(error) }, 'Redis connection error');
  });
  client.on('ready', () => {
    prepared = prepareConnection();
  });
  client.on('close', () => {
    connection += 1;
    setReady(false);
  });

  return {
    ready: () => ready,
    run,
    drop,
    async start() {
      const timer = setTimeout(() => client.disconnect(), START_TIMEOUT_MS);
      try {
        await client.connect();
        await prepared;
        if (!ready) throw new Error('the connection was lost at once');
      } catch (error) {
        throw new Error(describeError(lastError ?? error), { cause: error });
      } finally {
        clearTimeout(timer);
      }
      heartbeat = setInterval(() => {
        if (ready) run((live) => live.ping()).catch(() => undefined);
      }, HEARTBEAT_MS).unref();
    },
    async close() {
      closing = true;
      clearInterval(heartbeat);
      await closeRedisClient(client);
      setReady(false);
    },
  };
}
