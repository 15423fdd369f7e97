import type { AdmissionAnswer, AdmissionRequest, AdmissionStore } from '@model-gateway/billing';
import {
  accountName,
  keptFacts,
  readAccount,
  readWindow,
  windowName,
  type KeptFact,
} from '../admission-facts.ts';
import { createTurnBatch } from '../turn-batch.ts';
import { redisCounterKey } from './redis-counters.ts';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';

interface RedisAdmissionOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  /** The counter of account changes. */
  readonly epochCounter: string;
}

/** The keys that a batch of requests reads, the epoch first, and for each request the positions of its facts. */
interface ReadableFacts {
  readonly keys: readonly string[];
  readonly windows: readonly number[];
  readonly accounts: readonly number[];
}

/** The position of the epoch, where no fact can be. */
const NOT_ASKED = 0;
const LIMITED_MS = 60_000;
const LOG_KEPT_MS = 2 * LIMITED_MS;
// Few enough for the command timeout and the stack of Lua.
const ADMIT_AT_ONCE = 128;
const FACTS_PER_CALL_MAX = 200;

// Keys: the epoch, the facts, then the log of each limit. Values: the number of facts plus the epoch; then for each request
// its known epoch, the number of its limits, and the maximum of each. Accepted requests are logged with the clock of Redis,
// in microseconds, in one list per minute: only the current and the last minute can count, older lists expire, and nothing is
// trimmed. Of the last minute only the entry that would reach the limit is read.
const ADMIT = script(`
local held = redis.call('MGET', unpack(KEYS, 1, ARGV[1]))
local epoch = tonumber(held[1] or 0)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local accepted = string.format('%.0f', now)
local minute = math.floor(time[1] / 60)

local function isReached(log, allowed)
  local left = allowed - redis.call('LLEN', log .. minute)
  if left <= 0 then return true end
  local last = redis.call('LINDEX', log .. (minute - 1), -left)
  return last and now - last < ${LIMITED_MS * 1000}
end

local function firstReached(key, value, count)
  for limit = 0, count - 1 do
    if isReached(KEYS[key + limit], ARGV[value + limit]) then return limit end
  end
end

local outcomes = {}
local key, value = ARGV[1] + 1, 2
while value < #ARGV do
  local known, count = tonumber(ARGV[value]), tonumber(ARGV[value + 1])
  local reached = epoch <= known and firstReached(key, value + 2, count)
  if epoch <= known and not reached then
    for limit = key, key + count - 1 do
      local log = KEYS[limit] .. minute
      if redis.call('RPUSH', log, accepted) == 1 then redis.call('PEXPIRE', log, ${LOG_KEPT_MS}) end
    end
  end
  outcomes[#outcomes + 1] = reached or -1
  key, value = key + count, value + 2 + count
end
return { held, outcomes }
`);

// A fact begins with its version. Values: for each key the fact, and how and when it expires.
const UPDATE_HINTS = script(`
local function version(fact) return tonumber(string.match(fact, '^%d+')) end
for index, key in ipairs(KEYS) do
  local fact, expiry, at = ARGV[index * 3 - 2], ARGV[index * 3 - 1], ARGV[index * 3]
  local held = redis.call('GET', key)
  if not held or version(held) < version(fact) then redis.call('SET', key, fact, expiry, at) end
end
`);

/** Limits and facts that all processes on one Redis share, on the clock of Redis. */
export function createRedisAdmission(options: RedisAdmissionOptions): AdmissionStore {
  const { connection, prefix, epochCounter } = options;
  const epochKey = redisCounterKey(prefix, epochCounter);
  const factKey = (name: string): string => `${prefix}admission:${name}`;

  /** Each key once: concurrent requests often share an account. */
  function askedFacts(requests: readonly AdmissionRequest[]): ReadableFacts {
    const keys = [epochKey];
    const places = new Map<string, number>();
    const placeOf = (name: string): number => {
      const known = places.get(name);
      if (known !== undefined) return known;
      const place = keys.push(factKey(name)) - 1;
      places.set(name, place);
      return place;
    };
    const windows: number[] = [];
    const accounts: number[] = [];
    for (const { window, account } of requests) {
      windows.push(window === undefined ? NOT_ASKED : placeOf(windowName(window)));
      accounts.push(account === undefined ? NOT_ASKED : placeOf(accountName(account)));
    }
    return { keys, windows, accounts };
  }

  async function admitAll(
    requests: readonly AdmissionRequest[],
  ): Promise<readonly AdmissionAnswer[]> {
    const facts = askedFacts(requests);
    // Without limits to count no script is needed.
    if (requests.every(({ limits }) => limits.length === 0)) {
      const stored = await connection.send('mget', facts.keys);
      return readAnswers(requests, facts, stored, []);
    }
    const keys = [...facts.keys];
    const values = [String(keys.length)];
    for (const { knownEpoch, limits } of requests) {
      values.push(String(knownEpoch), String(limits.length));
      for (const { name, requestsPerMinute } of limits) {
        keys.push(`${prefix}admitted:${name}:`);
        values.push(String(requestsPerMinute));
      }
    }
    const answer = await ADMIT.runNow(connection, keys, values);
    const parts: readonly unknown[] = Array.isArray(answer) ? answer : [];
    return readAnswers(requests, facts, parts[0], parts[1]);
  }

  async function write(facts: readonly KeptFact[]): Promise<void> {
    const keys = facts.map(({ name }) => factKey(name));
    const values = facts.flatMap(({ fact, expiry }) => [fact, ...expiry]);
    await connection.run((client) => UPDATE_HINTS.run(client, keys, values));
  }

  return {
    admit: createTurnBatch(admitAll, ADMIT_AT_ONCE),
    async updateHints(facts) {
      const kept = keptFacts(facts);
      for (let at = 0; at < kept.length; at += FACTS_PER_CALL_MAX) {
        await write(kept.slice(at, at + FACTS_PER_CALL_MAX));
      }
    },
  };
}

/** The epoch and the facts in the order of their keys, and for each request the index of the reached limit, or -1. */
function readAnswers(
  requests: readonly AdmissionRequest[],
  { windows, accounts }: ReadableFacts,
  stored: unknown,
  outcomes: unknown,
): readonly AdmissionAnswer[] {
  if (!Array.isArray(stored) || !Array.isArray(outcomes)) {
    throw new TypeError('Redis answered an admission with something else');
  }
  const epoch = Number(stored[0] ?? 0);
  const window = readOnce(stored, readWindow);
  const account = readOnce(stored, readAccount);
  return requests.map((request, index) => {
    if (epoch > request.knownEpoch) return { outcome: 'stale', epoch };
    const limit = request.limits[Number(outcomes[index] ?? -1)];
    if (limit !== undefined) return { outcome: 'limited', epoch, limit };
    return {
      outcome: 'passed',
      epoch,
      window: window(windows[index]),
      account: account(accounts[index]),
    };
  });
}

/** Reads each fact once, however many requests share it. */
function readOnce<Fact>(stored: readonly unknown[], read: (fact: unknown) => Fact | undefined) {
  const facts: (Fact | undefined)[] = [];
  return (place = NOT_ASKED): Fact | undefined => {
    if (place === NOT_ASKED) return undefined;
    facts[place] ??= read(stored[place]);
    return facts[place];
  };
}
