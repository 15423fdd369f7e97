import type { Entries, EntryOptions } from '@model-gateway/kernel';
import { z } from 'zod';
import { requireExpiryTime } from '../expiry-time.ts';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';

/** An entry and its remaining time. */
export interface StoredEntry {
  readonly value: string;
  readonly expiresAfterMs: number;
}

/** A change of an entry without Redis, and the values on Redis that it may replace. */
export interface EntryChange {
  /** Undefined when the entry was removed. */
  readonly entry: StoredEntry | undefined;
  readonly replaces: readonly string[] | 'any';
}

/** Entries that all processes on one Redis share. */
export interface RedisEntries extends Entries {
  /** As `get`, with the time the entry still has. */
  read(key: string): Promise<StoredEntry | undefined>;
  /** As `putIfAbsent`, with the time the entry still has. */
  claim(key: string, value: string, options: EntryOptions): Promise<StoredEntry>;
  /** Repeats a change, unless the entry has a value that the change does not replace; true when it was made. */
  repeat(key: string, change: EntryChange): Promise<boolean>;
}

const READ = script(`
local value = redis.call('GET', KEYS[1])
return value and { value, redis.call('PTTL', KEYS[1]) }
`);

const CLAIM = script(`
local value = redis.call('GET', KEYS[1])
if value then return { value, redis.call('PTTL', KEYS[1]) } end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { ARGV[1], tonumber(ARGV[2]) }
`);

const REMOVE_IF = script(`
local value = redis.call('GET', KEYS[1])
for index = 1, #ARGV do
  if value == ARGV[index] then return redis.call('DEL', KEYS[1]) end
end
return 0
`);

const PUT_IF = script(`
local value = redis.call('GET', KEYS[1])
local replaceable = not value
for index = 3, #ARGV do replaceable = replaceable or value == ARGV[index] end
if not replaceable then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

const storedEntry = z
  .tuple([z.string(), z.number()])
  .transform(([value, expiresAfterMs]): StoredEntry => ({ value, expiresAfterMs }));

interface RedisEntriesOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
}

export function createRedisEntries({ connection, prefix }: RedisEntriesOptions): RedisEntries {
  const keyOf = (key: string): string => `${prefix}entry:${key}`;

  async function put(key: string, { value, expiresAfterMs }: StoredEntry): Promise<void> {
    requireExpiryTime(expiresAfterMs);
    await connection.run((client) => client.set(keyOf(key), value, 'PX', expiresAfterMs));
  }

  async function remove(key: string): Promise<void> {
    await connection.run((client) => client.del(keyOf(key)));
  }

  async function removeIf(key: string, values: readonly string[]): Promise<boolean> {
    return (await connection.run((client) => REMOVE_IF.run(client, [keyOf(key)], values))) === 1;
  }

  async function putIf(
    key: string,
    { value, expiresAfterMs }: StoredEntry,
    replaces: readonly string[],
  ): Promise<boolean> {
    const values = [value, String(expiresAfterMs), ...replaces];
    return (await connection.run((client) => PUT_IF.run(client, [keyOf(key)], values))) === 1;
  }

  async function read(key: string): Promise<StoredEntry | undefined> {
    const answer = await connection.run((client) => READ.run(client, [keyOf(key)], []));
    return answer === null ? undefined : storedEntry.parse(answer);
  }

  async function claim(key: string, value: string, options: EntryOptions): Promise<StoredEntry> {
    requireExpiryTime(options.expiresAfterMs);
    const values = [value, String(options.expiresAfterMs)];
    return storedEntry.parse(
      await connection.run((client) => CLAIM.run(client, [keyOf(key)], values)),
    );
  }

  return {
    read,
    claim,
    get: async (key) => (await read(key))?.value,
    put: (key, value, { expiresAfterMs }) => put(key, { value, expiresAfterMs }),
    putIfAbsent: async (key, value, options) => (await claim(key, value, options)).value,
    remove,
    removeIf: (key, value) => removeIf(key, [value]),
    async repeat(key, { entry, replaces }) {
      if (replaces !== 'any') {
        return entry === undefined ? removeIf(key, replaces) : putIf(key, entry, replaces);
      }
      await (entry === undefined ? remove(key) : put(key, entry));
      return true;
    },
  };
}
