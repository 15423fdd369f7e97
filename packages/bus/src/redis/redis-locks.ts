import { randomToken, type Locks } from '@model-gateway/kernel';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';

const RELEASE = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

const EXTEND = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

interface RedisLocksOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
}

/** Locks that all processes on one Redis share: a key with an expiry and the holder's token in it. */
export function createRedisLocks({ connection, prefix }: RedisLocksOptions): Locks {
  return {
    async acquire(name, expiresAfterMs) {
      const key = `${prefix}lock:${name}`;
      const token = randomToken();
      const taken = await connection.run((client) =>
        client.set(key, token, 'PX', expiresAfterMs, 'NX'),
      );
      if (taken !== 'OK') return undefined;
      return {
        async extend(extendedByMs) {
          const values = [token, String(extendedByMs)];
          return (await connection.run((client) => EXTEND.run(client, [key], values))) === 1;
        },
        async release() {
          return (await connection.run((client) => RELEASE.run(client, [key], [token]))) === 1;
        },
      };
    },
  };
}
