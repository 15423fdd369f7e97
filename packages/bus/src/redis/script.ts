import { createHash } from 'node:crypto';
import { isError } from '@model-gateway/kernel';
import type { Redis } from 'ioredis';

/** A Lua script that Redis runs as one step; its text is sent only when Redis does not know it yet. */
export interface Script {
  run(
    client: Redis,
    keys: readonly string[],
    values: readonly (string | Buffer)[],
  ): Promise<unknown>;
}

export function script(lua: string): Script {
  const sha = createHash('sha1').update(lua).digest('hex');
  return {
    async run(client, keys, values) {
      try {
        return await client.evalsha(sha, keys.length, ...keys, ...values);
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
        return client.eval(lua, keys.length, ...keys, ...values);
      }
    },
  };
}

const isUnknownScript = (error: unknown): boolean =>
  isError(error) && error.message.startsWith('NOSCRIPT');

/** A list in a reply; empty for anything else. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
