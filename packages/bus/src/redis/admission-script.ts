import { RESERVED_LUA } from './reserved-lua.ts';
import { script } from './script.ts';

const LIMITED_MS = 60_000;
const LOG_KEPT_MS = 2 * LIMITED_MS;
const EXPIRED_AT_ONCE = 100;
const NANO_USD = 1e9;

// Keys: the epoch, the facts, the two sets of each user whose calls end, then for each request the log of each limit, the set of the
// user's calls, and the sets of the two reservations. Values: the number of facts plus the epoch, the number of ends and for
// each its id, whether its call ends, and whether its reservation ends (1) or becomes usage (2, with tokens, nano-USD and points); then for each request its known epoch, the number of its limits, and the maximum of
// each; the id of its call ('' for none), the maximum of calls and when a call expires; its tokens ('' for no reservation),
// nano-USD, points, both quotas ('' for none), whether points can pay, and the positions of the window and the account.
//
// Accepted requests are logged with the clock of Redis, in microseconds, in one list per minute: only the current and the last
// minute can count, older lists expire, and nothing is trimmed. Of the last minute only the entry that would reach the limit
// is read.
//
// What a call has used counts instead of what it reserved, until the recorder has settled it: another process must not admit
// meanwhile what is used up. A call that was settled before it ended has nothing left that could become usage.
export const ADMIT = script(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local accepted = string.format('%.0f', now)
local minute = math.floor(time[1] / 60)

${RESERVED_LUA}
local function use(set, id, first, second, points)
  local amounts = set .. ':amounts'
  local reservedFirst, reservedSecond, used, linked = read(amounts, id)
  if not reservedFirst or used then return end
  redis.call('HSET', amounts, id, first .. ' ' .. second .. ' 1 ' .. linked)
  increase(amounts, '', first - reservedFirst, second - reservedSecond)
  increase(amounts, 'used ', tonumber(first), tonumber(second))
  if linked ~= '' then use(linked, id, points, '0') end
end

local function removeExpired(set)
  local ids = redis.call('ZRANGEBYSCORE', set, '-inf', now_ms, 'LIMIT', 0, ${EXPIRED_AT_ONCE})
  for _, id in ipairs(ids) do remove(set, id) end
end

local function add(set, id, kept_ms)
  local isNew = redis.call('ZADD', set, now_ms + kept_ms, id) == 1
  redis.call('PEXPIRE', set, kept_ms)
  return isNew
end

local function reserve(set, id, kept_ms, first, second, linked)
  if add(set, id, kept_ms) then
    redis.call('HSET', set .. ':amounts', id, first .. ' ' .. second .. ' 0 ' .. linked)
    increase(set .. ':amounts', '', tonumber(first), tonumber(second))
  end
  redis.call('PEXPIRE', set .. ':amounts', kept_ms)
end

local function reserved(set)
  removeExpired(set)
  local sums = redis.call('HMGET', set .. ':amounts', 'first', 'second', 'used first', 'used second')
  return tonumber(sums[1] or 0), tonumber(sums[2] or 0), sums[3] or '0', sums[4] or '0'
end

local key, value = ARGV[1] + 1, 3
for _ = 1, ARGV[2] do
  local id = ARGV[value]
  if ARGV[value + 1] == '1' then redis.call('ZREM', KEYS[key], id) end
  if ARGV[value + 2] == '1' then remove(KEYS[key + 1], id) end
  local isUsed = ARGV[value + 2] == '2'
  if isUsed then use(KEYS[key + 1], id, ARGV[value + 3], ARGV[value + 4], ARGV[value + 5]) end
  key, value = key + 2, value + (isUsed and 6 or 3)
end

local held = redis.call('MGET', unpack(KEYS, 1, ARGV[1]))
local epoch = tonumber(held[1] or 0)

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

local function isDrained(used, more, quota, tolerance)
  return quota ~= '' and used + more >= quota - tolerance
end

local function isCovered(value, tokens, nano, points)
  local window = ARGV[value + 6] ~= '0' and held[tonumber(ARGV[value + 6])]
  if not window then return true end
  local cost, used = string.match(window, '^%S+ (%S+) (%S+)')
  if not isDrained(cost, nano / ${NANO_USD}, ARGV[value + 3], 1e-9) and
     not isDrained(used, tokens, ARGV[value + 4], 0) then return true end
  local account = ARGV[value + 7] ~= '0' and held[tonumber(ARGV[value + 7])]
  if not account then return true end
  local balance, refused = string.match(account, '^%S+ (%S+) %S+ ?(%S*)')
  local is_refused = refused ~= '' and tonumber(refused) > now_ms
  return ARGV[value + 5] == '1' and not is_refused and tonumber(balance) > points
end

local function isFull(calls, count_max, id)
  if redis.call('ZCARD', calls) < count_max then return false end
  removeExpired(calls)
  return redis.call('ZCARD', calls) >= count_max and not redis.call('ZSCORE', calls, id)
end

local outcomes = {}
while value <= #ARGV do
  local known, count = tonumber(ARGV[value]), tonumber(ARGV[value + 1])
  local call = value + 2 + count
  local hasCall, reservation = ARGV[call] ~= '', ARGV[call] ~= '' and call + 3
  local reserves = hasCall and ARGV[reservation] ~= ''
  local isBusy, reached = false, nil
  local tokens, nano, points, begins = 0, 0, 0, hasCall
  local usedTokens, usedNano = '0', '0'
  if epoch <= known then
    reached = firstReached(key, value + 2, count)
    local calls = KEYS[key + count]
    if hasCall and not reached then isBusy = isFull(calls, tonumber(ARGV[call + 1]), ARGV[call]) end
    if not reached and not isBusy then
      for limit = key, key + count - 1 do
        local log = KEYS[limit] .. minute
        if redis.call('RPUSH', log, accepted) == 1 then redis.call('PEXPIRE', log, ${LOG_KEPT_MS}) end
      end
      if reserves then
        tokens, nano, usedTokens, usedNano = reserved(KEYS[key + count + 1])
        points = reserved(KEYS[key + count + 2])
        begins = isCovered(reservation, tokens, nano, points)
        if begins then
          reserve(KEYS[key + count + 1], ARGV[call], ARGV[call + 2], ARGV[reservation], ARGV[reservation + 1], KEYS[key + count + 2])
          reserve(KEYS[key + count + 2], ARGV[call], ARGV[call + 2], ARGV[reservation + 2], '0', '')
        end
      end
      if begins then add(calls, ARGV[call], ARGV[call + 2]) end
    end
  end
  local outcome = reached or (isBusy and -2) or -1
  outcomes[#outcomes + 1] = reserves and outcome == -1
    and { begins and 1 or 0, string.format('%.0f', tokens), string.format('%.0f', nano), string.format('%.0f', points), usedTokens, usedNano }
    or outcome
  key = key + count + (hasCall and (reserves and 3 or 1) or 0)
  value = hasCall and (reserves and reservation + 8 or reservation + 1) or call + 1
end
return { held, outcomes }
`);
