import { createHash } from 'node:crypto';
import { isError } from '@model-gateway/kernel';
import { Command, type Redis } from 'ioredis';

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
      try {
        return await sendNow(client, 'evalsha', [sha, keys.length, ...keys, ...values]);
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
        return client.eval(lua, keys.length, ...keys, ...values);
      }
    },
  };
}

const isUnknownScript = (error: unknown): boolean =>
  isError(error) && error.message.startsWith('NOSCRIPT');

/** Sends a command at once, where the methods of the client would let it wait for company until the next turn of the event loop. */
export function sendNow(
  client: Redis,
  name: string,
  values: readonly (string | number)[],
): Promise<unknown> {
  const command = new Command(name, [...values], { replyEncoding: 'utf8' });
  return Promise.resolve(client.sendCommand(command));
}
