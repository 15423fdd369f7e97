import { NANO_USD } from '../whole-amounts.ts';
import { RESERVED_LUA } from './reserved-lua.ts';
import { script } from './script.ts';

const LIMITED_MS = 60_000;
const LOG_KEPT_MS = 2 * LIMITED_MS;
const EXPIRED_AT_ONCE = 100;

// Keys: the epoch and the facts. Values: the prefix of all other keys, when a call expires, the number of ends, each end, and
// each request. An end and a request are one value, with a line for each field: one long value costs less than many short
// ones. An end: the user, the id, whether its call ends, and whether its reservation ends (1) or becomes usage (2), then the
// tokens, nano-USD and points of that. A request: its known epoch, the id of its call (empty for none), its user, the
// maximum of calls, its tokens (empty for no reservation), nano-USD, points, both quotas (empty for none), whether points can
// pay, the positions of the window and the account, the name of the account, and the name and the maximum of each limit.
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
local calls_prefix, reserved_prefix, log_prefix = ARGV[1] .. 'calls:', ARGV[1] .. 'reserved:', ARGV[1] .. 'admitted:'
local kept_ms = tonumber(ARGV[2])

${RESERVED_LUA}
local function use(set, id, ownFirst, ownSecond, points)
  local amounts = set .. ':amounts'
  local first, second, usedFirst, usedSecond, held = sumsOf(amounts, id)
  if not held then return end
  local reservedFirst, reservedSecond, isUsed, linked = read(held)
  if isUsed then return end
  redis.call('HSET', amounts, id, ownFirst .. ' ' .. ownSecond .. ' 1 ' .. linked,
    'first', whole(first - reservedFirst + ownFirst), 'second', whole(second - reservedSecond + ownSecond),
    'used first', whole(usedFirst + ownFirst), 'used second', whole(usedSecond + ownSecond))
  if linked ~= '' then use(linked, id, points, '0') end
end

local function removeExpired(set)
  local ids = redis.call('ZRANGEBYSCORE', set, '-inf', now_ms, 'LIMIT', 0, ${EXPIRED_AT_ONCE})
  for _, id in ipairs(ids) do remove(set, id) end
end

local function add(set, id)
  local isNew = redis.call('ZADD', set, now_ms + kept_ms, id) == 1
  redis.call('PEXPIRE', set, kept_ms)
  return isNew
end

local function reserve(set, id, first, second, ownFirst, ownSecond, linked)
  if add(set, id) then
    redis.call('HSET', set .. ':amounts', id, ownFirst .. ' ' .. ownSecond .. ' 0 ' .. linked,
      'first', whole(first + ownFirst), 'second', whole(second + ownSecond))
  end
  redis.call('PEXPIRE', set .. ':amounts', kept_ms)
end

-- One match is much faster than a loop over the fields.
local END = '^' .. string.rep('([^\\n]*)\\n', 7)
local REQUEST = '^' .. string.rep('([^\\n]*)\\n', 13) .. '(.*)$'

local requests = 4 + ARGV[3]
for index = 4, requests - 1 do
  local user, id, call, what, tokens, nano, points = string.match(ARGV[index], END)
  if call == '1' then redis.call('ZREM', calls_prefix .. user, id) end
  if what == '1' then remove(reserved_prefix .. user, id) end
  if what == '2' then use(reserved_prefix .. user, id, tokens, nano, points) end
end

local held = redis.call('MGET', unpack(KEYS))
local epoch = tonumber(held[1] or 0)

local function isReached(log, allowed)
  local left = allowed - redis.call('LLEN', log .. minute)
  if left <= 0 then return true end
  local last = redis.call('LINDEX', log .. (minute - 1), -left)
  return last and now - last < ${LIMITED_MS * 1000}
end

local function firstReached(limits)
  local index = 0
  for name, allowed in string.gmatch(limits, '([^\\n]*)\\n([^\\n]*)\\n') do
    if isReached(log_prefix .. name .. ':', allowed) then return index end
    index = index + 1
  end
end

local function count(limits)
  for name in string.gmatch(limits, '([^\\n]*)\\n[^\\n]*\\n') do
    local log = log_prefix .. name .. ':' .. minute
    if redis.call('RPUSH', log, accepted) == 1 then redis.call('PEXPIRE', log, ${LOG_KEPT_MS}) end
  end
end

local function isDrained(used, more, quota, tolerance)
  return quota ~= '' and used + more >= quota - tolerance
end

local function isCovered(usdQuota, tokenQuota, isPriced, windowAt, accountAt, tokens, nano, points)
  local window = windowAt ~= '0' and held[tonumber(windowAt)]
  if not window then return true end
  local cost, used = string.match(window, '^%S+ (%S+) (%S+)')
  if not isDrained(cost, nano / ${NANO_USD}, usdQuota, 1e-9) and
     not isDrained(used, tokens, tokenQuota, 0) then return true end
  local account = accountAt ~= '0' and held[tonumber(accountAt)]
  if not account then return true end
  local balance, refused = string.match(account, '^%S+ (%S+) %S+ ?(%S*)')
  local is_refused = refused ~= '' and tonumber(refused) > now_ms
  return isPriced == '1' and not is_refused and tonumber(balance) > points
end

local function isFull(calls, count_max, id)
  if redis.call('ZCARD', calls) < count_max then return false end
  removeExpired(calls)
  return redis.call('ZCARD', calls) >= count_max and not redis.call('ZSCORE', calls, id)
end

local function admit(value)
  local known, id, user, callsMax, ownTokens, ownNano, ownPoints, usdQuota, tokenQuota, isPriced, windowAt, accountAt, account, limits =
    string.match(value, REQUEST)
  if epoch > tonumber(known) then return -1 end
  local reached = limits ~= '' and firstReached(limits)
  if reached then return reached end
  local calls = calls_prefix .. user
  if id ~= '' and isFull(calls, tonumber(callsMax), id) then return -2 end
  if limits ~= '' then count(limits) end
  if id == '' then return -1 end
  if ownTokens == '' then
    add(calls, id)
    return -1
  end
  local ofUser, ofAccount = reserved_prefix .. user, reserved_prefix .. account
  local tokens, nano, usedTokens, usedNano = sumsOf(ofUser .. ':amounts', id)
  local points = sumsOf(ofAccount .. ':amounts', id)
  local begins = isCovered(usdQuota, tokenQuota, isPriced, windowAt, accountAt, tokens, nano, points)
  if not begins then
    removeExpired(ofUser)
    removeExpired(ofAccount)
    tokens, nano, usedTokens, usedNano = sumsOf(ofUser .. ':amounts', id)
    points = sumsOf(ofAccount .. ':amounts', id)
    begins = isCovered(usdQuota, tokenQuota, isPriced, windowAt, accountAt, tokens, nano, points)
  end
  if begins then
    reserve(ofUser, id, tokens, nano, ownTokens, ownNano, ofAccount)
    reserve(ofAccount, id, points, 0, ownPoints, '0', '')
    add(calls, id)
  end
  return string.format('%d %.0f %.0f %.0f %.0f %.0f', begins and 1 or 0, tokens, nano, points, usedTokens, usedNano)
end

local outcomes = {}
for index = requests, #ARGV do outcomes[#outcomes + 1] = admit(ARGV[index]) end
return { held, outcomes }
`);
