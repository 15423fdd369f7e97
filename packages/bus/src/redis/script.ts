import { createHash } from 'node:crypto';
import { isError } from '@model-gateway/kernel';
import type { Redis } from 'ioredis';

/** A Lua script that Redis runs as one step; its text travels only when Redis does not know it yet. */
export interface Script {
  run(client: Redis, keys: readonly string[], values: readonly string[]): Promise<unknown>;
  /** The same without waiting for other commands to share the way with: for callers that have gathered theirs. */
  runNow(client: Redis, keys: readonly string[], values: readonly string[]): Promise<unknown>;
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
    async runNow(client, keys, values) {
      const [error, answer] = await sendNow(client, [
        'evalsha',
        sha,
        keys.length,
        ...keys,
        ...values,
      ]);
      if (error === null) return answer;
      if (!isUnknownScript(error)) throw error;
      return client.eval(lua, keys.length, ...keys, ...values);
    },
  };
}

const isUnknownScript = (error: unknown): boolean =>
  isError(error) && error.message.startsWith('NOSCRIPT');

/** A pipeline of one leaves at once, where a single command would wait for company until the next turn of the event loop. */
export async function sendNow(
  client: Redis,
  command: readonly (string | number)[],
): Promise<readonly [Error | null, unknown]> {
  const answers = await client.pipeline([[...command]]).exec();
  return answers?.[0] ?? [new Error('Redis dropped a call'), undefined];
}
