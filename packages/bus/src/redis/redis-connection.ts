import { describeError, startupError, type Log } from '@model-gateway/kernel';
import type { Redis } from 'ioredis';
import { createBlockingRedisClient, createRedisClient } from './redis-client.ts';
import { describeTarget, type RedisTarget } from './redis-access.ts';
import { createSupervisedClient } from './supervised-client.ts';

/** The connections of one process to Redis: one for commands, one for subscriptions, and blocking ones on demand. */
export interface RedisConnection {
  /** Redis replies to commands. */
  commandsReady(): boolean;
  /** Redis replies to commands and every subscription of this process is live. */
  channelsReady(): boolean;
  /** Called whenever one of the two changes; the returned function stops that. */
  onChange(listener: () => void): () => void;
  /** Sends a command. Never waits for an unavailable Redis. */
  run<Answer>(command: (client: Redis) => Promise<Answer>): Promise<Answer>;
  /** The same as `run` on the connection that carries subscriptions. */
  runOnSubscriber<Answer>(command: (client: Redis) => Promise<Answer>): Promise<Answer>;
  /** Calls back with messages only while the subscriptions are live. */
  onMessage(listener: (channel: string, message: string) => void): void;
  /** Restores the subscriptions on a new connection. */
  onSubscriberConnected(restore: (subscriber: Redis) => Promise<void>): void;
  /** A separate connection for blocking commands; the caller bounds them and closes it. */
  openBlocking(): Redis;
  /** Rejects with a StartupError when Redis cannot be used; later outages are tolerated. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface ConnectionOptions {
  readonly target: RedisTarget;
  readonly log: Log;
}

export function createRedisConnection({ target, log }: ConnectionOptions): RedisConnection {
  const changeListeners = new Set<() => void>();
  const restorers: ((subscriber: Redis) => Promise<void>)[] = [];
  let known = { commands: false, channels: false };
  let started = false;
  let closed: Promise<void> | undefined;

  const commands = createSupervisedClient({
    // The commands of one turn of the event loop are sent together.
    client: createRedisClient(target, { enableAutoPipelining: true }),
    log,
    onChange: () => {
      // A Redis that hangs would deliver later what its senders count as not delivered.
      if (!commands.ready() && subscriber.ready()) subscriber.drop();
      announce();
    },
  });
  const subscriberClient = createRedisClient(target);
  const subscriber = createSupervisedClient({
    client: subscriberClient,
    log,
    onChange: () => announce(),
    prepare: async (client) => {
      for (const restore of restorers) await restore(client);
    },
  });

  const channelsReady = (): boolean => commands.ready() && subscriber.ready();

  function announce(): void {
    const current = { commands: commands.ready(), channels: channelsReady() };
    if (current.commands === known.commands && current.channels === known.channels) return;
    if (started && current.channels !== known.channels) logSwitch(current.channels);
    known = current;
    for (const listener of changeListeners) listener();
  }

  function logSwitch(isBack: boolean): void {
    if (isBack) log.info({}, 'Redis is available again');
    else if (closed === undefined)
      log.warn({}, 'Redis is unavailable; this process continues without it');
  }

  async function closeAll(): Promise<void> {
    await Promise.all([commands.close(), subscriber.close()]);
  }

  const connection: RedisConnection = {
    commandsReady: () => commands.ready(),
    channelsReady,
    onChange(listener) {
      changeListeners.add(listener);
      return () => void changeListeners.delete(listener);
    },
    run: (command) => commands.run(command),
    runOnSubscriber: (command) => subscriber.run(command),
    onMessage(listener) {
      subscriberClient.on('message', (channel: string, message: string) => {
        if (channelsReady()) listener(channel, message);
      });
    },
    onSubscriberConnected: (restore) => void restorers.push(restore),
    openBlocking() {
      const client = createBlockingRedisClient(target);
      client.on('error', (error: unknown) => {
        log.debug({ reason: describeError(error) }, 'blocking Redis connection error');
      });
      return client;
    },
    async start() {
      try {
        await Promise.all([commands.start(), subscriber.start()]);
        started = true;
      } catch (error) {
        await connection.close();
        const values = { server: describeTarget(target), reason: describeError(error) };
        throw startupError('redis_unusable', values, error);
      }
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
  return connection;
}
