import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script that Redis runs as one step; its text travels only when Redis does not know it yet. */
export interface Script {
  run(client: Redis, keys: readonly string[], values: readonly string[]): Promise<unknown>;
}

export function script(lua: string): Script {
  const sha = createHash('sha1').update(lua).digest('hex');
  return {
    async run(client, keys, values) {
      try {
        return await client.evalsha(sha, keys.length, ...keys, ...values);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return client.eval(lua, keys.length, ...keys, ...values);
      }
    },
  };
}
