import { describeError, type Log } from '@model-gateway/kernel';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { FallBack } from './fall-back.ts';

/**
 * Makes a port whose calls go to Redis, and to a store inside this process while Redis is unavailable or refuses. That store is
 * empty when an outage begins. It is discarded afterwards, and only `onReturn` can save something from it.
 */
export type WithFallback = <Port extends object>(
  redis: Port,
  createLocal: () => Port,
  onReturn?: (local: Port) => Promise<void>,
) => Port;

interface WithFallbackOptions {
  readonly connection: Pick<RedisConnection, 'commandsReady' | 'onChange'>;
  readonly fallBack: FallBack;
  readonly log: Log;
}

type Call = (...values: readonly unknown[]) => Promise<unknown>;

export function createWithFallback(options: WithFallbackOptions): WithFallback {
  const { connection, fallBack, log } = options;
  return <Port extends object>(
    redis: Port,
    createLocal: () => Port,
    onReturn?: (local: Port) => Promise<void>,
  ) => {
    let local = createLocal();

    connection.onChange(() => {
      if (!connection.commandsReady()) return;
      const before = local;
      local = createLocal();
      onReturn?.(before).catch((error: unknown) => {
        log.error({ reason: describeError(error) }, 'saving the changes of a Redis outage failed');
      });
    });

    const callOf = (store: Port, name: string): Call => Reflect.get(store, name) as Call;
    const methods = Object.keys(redis).map((name): [string, Call] => [
      name,
      (...values) =>
        fallBack(
          () => callOf(redis, name)(...values),
          () => callOf(local, name)(...values),
        ),
    ]);
    return Object.fromEntries(methods) as Port;
  };
}
