import type { Log } from '@model-gateway/kernel';
import type { Circuit, CircuitStore, LocalCircuits } from '@model-gateway/router';
import type { RedisCircuits } from '../redis/redis-circuits.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { FallBack } from './fall-back.ts';

interface FailoverCircuitsOptions {
  readonly connection: RedisConnection;
  readonly redis: RedisCircuits;
  readonly local: LocalCircuits;
  readonly fallBack: FallBack;
  readonly log: Log;
}

/**
 * While Redis is unavailable, a circuit continues in this process from its last known state. Its state is copied to Redis
 * afterwards, before the circuit is used there again.
 */
export function createFailoverCircuits(options: FailoverCircuitsOptions): CircuitStore {
  const { connection, redis, local, fallBack, log } = options;
  /** Circuits that were changed here and not yet on Redis. */
  const missed = new Set<string>();
  const handingBack = new Map<string, Promise<void>>();

  async function handBack(name: string): Promise<void> {
    const circuit = await local.read(name);
    missed.delete(name);
    await fallBack(
      () => redis.replace(name, circuit),
      () => Promise.resolve(void missed.add(name)),
    );
  }

  function handBackOnce(name: string): Promise<void> {
    const work = handingBack.get(name) ?? handBack(name).finally(() => handingBack.delete(name));
    handingBack.set(name, work);
    return work;
  }

  connection.onChange(() => {
    if (!connection.commandsReady()) return;
    Promise.all([...missed].map(handBackOnce)).catch((error: unknown) => {
      log.error({ error }, 'copying circuits to Redis failed');
    });
  });

  async function serve(
    name: string,
    use: (circuits: CircuitStore) => Promise<Circuit>,
  ): Promise<Circuit> {
    if (handingBack.has(name) || (missed.has(name) && connection.commandsReady())) {
      await handBackOnce(name);
    }
    return fallBack(
      async () => {
        const circuit = await use(redis);
        local.adopt(name, circuit);
        return circuit;
      },
      async () => {
        const before = await local.read(name);
        const circuit = await use(local);
        if (!isSame(before, circuit)) missed.add(name);
        return circuit;
      },
    );
  }

  return {
    read: (name) => serve(name, (circuits) => circuits.read(name)),
    failed: (name, rules, token) => serve(name, (circuits) => circuits.failed(name, rules, token)),
    succeeded: (name, token) => serve(name, (circuits) => circuits.succeeded(name, token)),
    takeTrial: (name, token, rules) =>
      serve(name, (circuits) => circuits.takeTrial(name, token, rules)),
    releaseTrial: (name, token) => serve(name, (circuits) => circuits.releaseTrial(name, token)),
    async remove(name) {
      await local.remove(name);
      await fallBack(
        async () => {
          await redis.remove(name);
          missed.delete(name);
        },
        () => Promise.resolve(void missed.add(name)),
      );
    },
  };
}

/** Whether a circuit has changed only by the passing of time. */
const isSame = (left: Circuit, right: Circuit): boolean =>
  left.failures === right.failures &&
  left.trial?.token === right.trial?.token &&
  (left.openForMs === undefined) === (right.openForMs === undefined);
