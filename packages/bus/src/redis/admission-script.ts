import { NANO_USD } from '../whole-amounts.ts';
import { script } from './script.ts';

const LIMITED_MS = 60_000;
const LOG_KEPT_MS = 2 * LIMITED_MS;
const SPAN_MS = 5_000;
const SPANS = LIMITED_MS / SPAN_MS;
// Calls that a request finds expired and removes: Redis does nothing else meanwhile.
const EXPIRED_AT_ONCE = 2_000;

// A call of a user is a text of its own (`call:`), in a set by the time at which it expires (the first key): whether it is
// running (1 or 0), what it reserves or has used, and whose sums this counts in: those of its user, of the account whose points
// it draws (`pool`), and of its key, if that has limits. Each has a hash with the sums of its calls (`sums:`), which vanishes
// with the last of them. Amounts are whole numbers, so that the sums are exact. What a call has used counts instead of what it
// reserved, until the recorder has settled it: another process must not admit meanwhile what is used up.
const CALLS = `
local fields = { 'calls', 'tokens', 'nano', 'points', 'usedTokens', 'usedNano' }
local known, changed = {}, {}

local function sumsOf(name)
  if not known[name] then
    local sums = redis.call('HMGET', prefix .. 'sums:' .. name, unpack(fields))
    for index, field in ipairs(fields) do sums[field] = tonumber(sums[index] or 0) end
    known[name] = sums
  end
  return known[name]
end

local function add(name, field, amount)
  local sums = sumsOf(name)
  sums[field] = math.max(sums[field] + amount, 0)
  changed[name] = sums
end

local function count(call, sign)
  add(call.user, 'calls', sign * call.running)
  add(call.pool, 'points', sign * call.points)
  for _, name in ipairs({ call.user, call.key }) do
    add(name, 'tokens', sign * call.tokens)
    add(name, 'nano', sign * call.nano)
    if call.state == 'used' then
      add(name, 'usedTokens', sign * call.tokens)
      add(name, 'usedNano', sign * call.nano)
    end
  end
end

-- Takes a call out of the sums, to change it and put it back. Nothing is written before that.
local function take(name)
  local text = redis.call('GET', prefix .. 'call:' .. name)
  if not text then return nil end
  local call = cjson.decode(text)
  count(call, -1)
  return call
end

local function drop(name)
  redis.call('DEL', prefix .. 'call:' .. name)
  redis.call('ZREM', KEYS[1], name)
end

-- Without a time it expires when it would have.
local function put(name, call, expiresAt)
  if call.running == 0 and not call.state then return drop(name) end
  count(call, 1)
  redis.call('SET', prefix .. 'call:' .. name, cjson.encode(call), 'PX', 2 * keptMs)
  if expiresAt then
    redis.call('ZADD', KEYS[1], expiresAt, name)
    redis.call('PEXPIRE', KEYS[1], 2 * keptMs)
  end
end

local function saveSums()
  for name, sums in pairs(changed) do
    local key, values, total = prefix .. 'sums:' .. name, {}, 0
    for index, field in ipairs(fields) do
      values[2 * index - 1], values[2 * index] = field, sums[field]
      total = total + sums[field]
    end
    if total == 0 then
      redis.call('DEL', key)
    else
      redis.call('HSET', key, unpack(values))
      -- Not longer than the texts of the calls in it, which are needed to take them out.
      redis.call('PEXPIRE', key, keptMs)
    end
  end
  changed = {}
end

local function release(call)
  call.state, call.tokens, call.nano, call.points = nil, 0, 0, 0
end

local function removeExpired()
  local names = redis.call('ZRANGE', KEYS[1], '-inf', now, 'BYSCORE', 'LIMIT', 0, ${EXPIRED_AT_ONCE})
  for _, name in ipairs(names) do
    take(name)
    drop(name)
  end
  saveSums()
end
`;

// The tokens that a key has used are counted in spans of a few seconds.
const TOKENS = `
local span = math.floor(now / ${SPAN_MS})

local function addTokens(key, tokens)
  local name = prefix .. 'tokens:' .. key .. ':' .. span
  redis.call('INCRBY', name, tokens)
  redis.call('PEXPIRE', name, ${LIMITED_MS + 2 * SPAN_MS})
end

-- The tokens of the last minute, and when the oldest of them stop counting.
local function tokensOf(key)
  local names = {}
  for age = 0, ${SPANS} do names[age + 1] = prefix .. 'tokens:' .. key .. ':' .. (span - age) end
  local sum, oldest = 0, 0
  for index, tokens in ipairs(redis.call('MGET', unpack(names))) do
    if tokens then sum, oldest = sum + tokens, index - 1 end
  end
  return sum, (span - oldest + 1) * ${SPAN_MS} + ${LIMITED_MS} - now
end
`;

// The requests that a limit has admitted are a list of their times, the oldest first.
const REQUESTS = `
local function logOf(limit) return prefix .. 'admitted:' .. limit.name end

-- How many there were in the last minute, and when the first of them stops counting.
local function countOf(limit)
  local log, over = logOf(limit), now - ${LIMITED_MS}
  local function timeAt(index) return tonumber(redis.call('LINDEX', log, index) or now) end
  local first = timeAt(0)
  while first <= over do
    -- Many at a time, then one by one.
    redis.call('LTRIM', log, timeAt(999) <= over and 1000 or 1, -1)
    first = timeAt(0)
  end
  local size = redis.call('LLEN', log)
  return size, size > 0 and first - over or 0
end

local function countRequest(counted)
  for index, limit in ipairs(ask.limits) do
    redis.call('RPUSH', logOf(limit), now)
    redis.call('PEXPIRE', logOf(limit), ${LOG_KEPT_MS})
    counted[2 * index - 1] = counted[2 * index - 1] + 1
    if counted[2 * index - 1] == 1 then counted[2 * index] = ${LIMITED_MS} end
  end
end
`;

// Unknown facts refuse nothing: the caller reads them and decides.
const DECISION = `
local function isDrained(used, more, quota, tolerance)
  return quota and used + more >= quota - tolerance
end

local function isCovered(asked, window, account, sums, points)
  if not window then return true end
  if not isDrained(window.costUsd, sums.nano / ${NANO_USD}, asked.usdQuota, 1e-9) and
     not isDrained(window.tokens, sums.tokens, asked.tokenQuota, 0) then return true end
  if not account then return true end
  if not asked.isPriced then return false end
  for _, refusal in ipairs(window.refusals or {}) do
    local name = 'account:' .. refusal.account.type .. ':' .. refusal.account.id
    if name == asked.pool and refusal.increases >= account.increases then return false end
  end
  return account.balance - points >= math.max(asked.points, 1)
end
`;

// Keys: the calls by their expiry, the epoch, and the facts of the window, the account and the budget. The answer: the outcome,
// the epoch with these facts, a number (the limit that is reached, when tokens are free again, or whether the call began), for
// each limit its count and when the first of its requests stops counting; then what others reserve from the user and the
// account, and from the key.
const ADMIT = `
function steps.admit()
  local facts = redis.call('MGET', unpack(KEYS, 2))
  local function fact(index) return facts[index] and cjson.decode(facts[index]) end
  if tonumber(facts[1] or 0) > ask.epoch then return { 'stale', facts } end

  local counted = {}
  for index, limit in ipairs(ask.limits) do
    local requests, freeMs = countOf(limit)
    if requests >= limit.requestsPerMinute then return { 'limited', facts, index - 1 } end
    counted[2 * index - 1], counted[2 * index] = requests, freeMs
  end
  local call = ask.call
  if not call then
    countRequest(counted)
    return { 'passed', facts, 1, counted }
  end

  removeExpired()
  local user, asked, name = 'account:user:' .. call.user, call.reservation, nameOf(call)
  -- A call that is admitted again does not count against itself; what it has used does.
  local before = take(name)
  local isUsed = before and before.state == 'used'
  if isUsed then count(before, 1) end
  local sums = sumsOf(user)
  local points = asked and sumsOf(asked.pool).points
  local ofKey = asked and asked.key and sumsOf('key:' .. asked.key.id)

  local others = sums.calls - (isUsed and before.running or 0)
  if others >= call.callsMax and not (before and before.running == 1) then
    return { 'busy', facts, 0, counted }
  end

  local keyTokens, keyFreeMs = 0, 0
  if ofKey and asked.key.tokensPerMinute then
    keyTokens, keyFreeMs = tokensOf(asked.key.id)
    keyTokens = keyTokens + ofKey.tokens - ofKey.usedTokens
    if keyTokens >= asked.key.tokensPerMinute then return { 'tokens_limited', facts, keyFreeMs, counted } end
  end

  countRequest(counted)
  local function isAllowed()
    local budget = ofKey and fact(4)
    if budget and isDrained(budget.costUsd, ofKey.nano / ${NANO_USD}, asked.key.budgetUsd, 1e-9) then return false end
    return isCovered(asked, fact(2), fact(3), sums, points)
  end
  local begins = not asked or isAllowed()
  local reply = { 'passed', facts, begins and 1 or 0, counted,
    asked and { sums.tokens, sums.nano, points, sums.usedTokens, sums.usedNano },
    ofKey and { ofKey.nano, ofKey.usedNano, keyTokens, keyFreeMs } }
  if begins then
    -- One that has begun before is renewed, with the larger of what it reserved then and now.
    if isUsed then count(before, -1) end
    local held = before or { user = user, pool = user, tokens = 0, nano = 0, points = 0 }
    held.running = 1
    if asked and not isUsed then
      held.state, held.pool, held.key = 'reserved', asked.pool, asked.key and 'key:' .. asked.key.id
      for _, amount in ipairs({ 'tokens', 'nano', 'points' }) do held[amount] = math.max(held[amount], asked[amount]) end
    end
    put(name, held, now + keptMs)
    saveSums()
  end
  return reply
end
`;

// Ending a call again changes nothing. One that was settled before it ended has nothing left that could become usage.
const FINISH = `
function steps.finish()
  removeExpired()
  local name, usage = nameOf(ask), ask.usage
  local call = take(name)
  if not call then return end
  if usage and ask.keyId and call.running == 1 then addTokens(ask.keyId, usage.tokens) end
  if ask.endsCall then call.running = 0 end
  if ask.endsReservation and call.state == 'reserved' then
    release(call)
    if usage then call.state, call.tokens, call.nano, call.points = 'used', usage.tokens, usage.nano, usage.points end
  end
  put(name, call)
  saveSums()
end
`;

// Keys: the calls by their expiry, and those of the facts. Settled calls go in the same step as the facts that include them,
// so that no usage counts twice.
const UPDATE = `
function steps.update()
  removeExpired()
  for index, new in ipairs(ask.facts) do
    local key = KEYS[index + 1]
    local held = redis.call('GET', key)
    if not held or cjson.decode(held).version < new.version then redis.call('SET', key, new.fact, unpack(new.expiry)) end
  end
  for _, settled in ipairs(ask.settled) do
    local name = nameOf(settled)
    local call = take(name)
    if call then
      release(call)
      put(name, call)
    end
  end
  saveSums()
end
`;

/**
 * All that is done to calls on Redis, on its clock. Values: the prefix of all keys, how long a call is kept, the step, and what it
 * is asked, as JSON. One script, so that Redis knows it for the end of a call if it knew it for its begin: a script that is
 * sent again would come after the next request.
 */
export const ADMISSION = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local prefix, keptMs, ask = ARGV[1], tonumber(ARGV[2]), cjson.decode(ARGV[4])
local steps = {}
local function nameOf(call) return call.user .. ':' .. call.id end
${CALLS}${TOKENS}${REQUESTS}${DECISION}${ADMIT}${FINISH}${UPDATE}
return steps[ARGV[3]]()
`);
