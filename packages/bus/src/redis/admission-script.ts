import { AMOUNT_MAX, NANO_USD } from '../whole-amounts.ts';
import { script } from './script.ts';
import { SEARCH_LUA, TALLY_LUA } from './tally-lua.ts';

const LIMITED_MS = 60_000;
const LOG_KEPT_MS = 2 * LIMITED_MS;
// A request that would be refused waits for what has expired; for others a step now and then keeps the hash small.
const SEARCH_STEPS = 25;
const SPAN_SECS = 5;
const SPANS = LIMITED_MS / 1000 / SPAN_SECS;
const LINE = String.raw`([^\n]*)\n`;

// Keys: the epoch and the facts. Values: the prefix of all other keys, when a call expires, the ends, and the requests. All ends
// are one value, with a line for each field, and so are all requests, with a carriage return after each: one long value costs
// less than many short ones. An end: the user, the id, whether its call ends, and whether its reservation ends (1) or becomes usage (2), then the
// tokens, nano-USD and points of that, and the id of the key that has limits. A request: its known epoch, the id of its call (empty for none), its user, the
// maximum of calls, its tokens (empty for no reservation), nano-USD, points, both quotas (empty for none), whether points can
// pay, the positions of the window and the account, the name of the account if it is not the wallet of the user, the
// limits of the key (its id, tokens per minute, budget, and the position of the fact of that), and the name and the maximum
// of each limit.
//
// Accepted requests are logged with the clock of Redis, in microseconds, in one list per minute: only the current and the last
// minute can count, older lists expire, and nothing is trimmed. Of the last minute only the entry that would reach the limit
// is read, and a few to find the first that still counts.
//
// The outcome of a request: the index of the limit that it reached, -1, or a list: whether its call
// began, five amounts, and for each limit the count and the milliseconds until the oldest request stops counting; for a key
// with limits then another list: its nano-USD, the used ones of them, its tokens, and when the oldest of these stop counting.
// For too many calls the list is -2 and the counts of the limits; if the key has used its tokens, it is -3, the time when the
// oldest of these stop counting, and those counts. Tokens are counted in spans of a few seconds.
//
// What a call has used counts instead of what it reserved, until the recorder has settled it: another process must not admit
// meanwhile what is used up. A call that was settled before it ended has nothing left that could become usage.
export const ADMIT = script(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local accepted = string.format('%.0f', now)
local minute = math.floor(time[1] / 60)
local calls_prefix, pools_prefix, log_prefix = ARGV[1] .. 'calls:', ARGV[1] .. 'reserved:', ARGV[1] .. 'admitted:'
local tokens_prefix, span = ARGV[1] .. 'tokens:', math.floor(time[1] / ${SPAN_SECS})
local kept_ms = tonumber(ARGV[2])

-- Whatever a process sends: sums with something else than a number of this range would refuse nothing any more.
local function amount(text)
  local number = tonumber(text)
  if not number or number ~= number or number > ${AMOUNT_MAX} then return ${AMOUNT_MAX} end
  return math.max(number, 0)
end

${TALLY_LUA}
${SEARCH_LUA}
local function use(tally, id, entry, call, tokens, nano, points)
  local _, held = struct.unpack(CALL, entry)
  local links = linksOf(entry)
  local pool, key = splitLinks(links)
  if pool ~= '' then
    local ofPool = tallyOf(pools_prefix .. pool, id)
    if ofPool.calls[id] then use(ofPool, id, ofPool.calls[id], 0, 0, 0, points) end
    points = 0
  end
  if key ~= '' then
    local ofKey = tallyOf(pools_prefix .. 'key:' .. key, id)
    if ofKey.calls[id] then use(ofKey, id, ofKey.calls[id], 0, tokens, nano, 0) end
  end
  put(tally, id, call, held, tokens, nano, points, 1, links)
end

local function addTokens(key, tokens)
  local name = tokens_prefix .. key .. ':' .. span
  redis.call('INCRBY', name, string.format('%.0f', amount(tokens)))
  redis.call('PEXPIRE', name, ${LIMITED_MS + 2 * SPAN_SECS * 1000})
end

-- The tokens of the last minute, and when the oldest of them stop counting.
local function tokensOf(key)
  local names = {}
  for age = 0, ${SPANS} do names[age + 1] = tokens_prefix .. key .. ':' .. (span - age) end
  local sum, oldest = 0, 0
  for index, tokens in ipairs(redis.call('MGET', unpack(names))) do
    if tokens then sum, oldest = sum + tokens, index - 1 end
  end
  return sum, (span - oldest + 1) * ${SPAN_SECS * 1000} + ${LIMITED_MS} - now_ms
end

local function finish(user, id, endsCall, what, tokens, nano, points, key)
  local tally = tallyOf(calls_prefix .. user, id)
  local entry = tally.calls[id]
  if not entry then return end
  local call, held, hadTokens, hadNano, hadPoints, used = struct.unpack(CALL, entry)
  -- Once, also when the end is sent again.
  if key ~= '' and what == '2' and call > 0 then addTokens(key, tokens) end
  if endsCall == '1' then call = 0 end
  if what == '0' or held == 0 or used == 1 then
    put(tally, id, call, held, hadTokens, hadNano, hadPoints, used, linksOf(entry))
  elseif what == '2' then
    use(tally, id, entry, call, amount(tokens), amount(nano), amount(points))
  else
    release(pools_prefix, tally, id, entry, call)
  end
end

-- What was reserved in another tally by a call that goes on.
local begin
local function renew(name, id)
  local tally = tallyOf(name, id)
  if tally.calls[id] then begin(tally, id, 0) end
end

-- A call that has begun before is renewed, with the larger of what it reserved then and now.
function begin(tally, id, call, ownTokens, ownNano, ownPoints, links)
  if tally.size == 0 then tally.dueAt = now_ms + kept_ms end
  if now_ms >= tally.dueAt + kept_ms then removeExpired(tally, 1) end
  tally.keptMs = kept_ms
  local held, tokens, nano, points, used = 0, 0, 0, 0, 0
  local entry = tally.calls[id]
  if entry then
    local _
    _, held, tokens, nano, points, used = struct.unpack(CALL, entry)
  end
  if held > 0 then
    local renews = ownTokens or used == 0
    if ownTokens and used == 0 then
      tokens, nano = math.max(tokens, amount(ownTokens)), math.max(nano, amount(ownNano))
      points = math.max(points, amount(ownPoints))
    end
    put(tally, id, call, renews and now_ms + kept_ms or held, tokens, nano, points, used, linksOf(entry))
    if renews and not ownTokens then
      local pool, key = splitLinks(linksOf(entry))
      if pool ~= '' then renew(pools_prefix .. pool, id) end
      if key ~= '' then renew(pools_prefix .. 'key:' .. key, id) end
    end
  elseif ownTokens then
    put(tally, id, call, now_ms + kept_ms, amount(ownTokens), amount(ownNano), amount(ownPoints), 0, links)
  else
    put(tally, id, call, 0, 0, 0, 0, 0, '')
  end
end

-- One match is much faster than a loop over the fields.
local END = '${LINE.repeat(8)}'
local REQUEST = '${LINE.repeat(14)}([^\\r]*)\\r'

for user, id, call, what, tokens, nano, points, key in string.gmatch(ARGV[3], END) do
  finish(user, id, call, what, tokens, nano, points, key)
end

local held = redis.call('MGET', unpack(KEYS))
local epoch = tonumber(held[1] or 0)

local function isCounting(time)
  return now - time < ${LIMITED_MS * 1000}
end

local function isReached(log, allowed)
  local left = allowed - redis.call('LLEN', log .. minute)
  if left <= 0 then return true end
  local last = redis.call('LINDEX', log .. (minute - 1), -left)
  return last and isCounting(last)
end

local function firstReached(limits)
  local index = 0
  for name, allowed in string.gmatch(limits, '([^\\n]*)\\n([^\\n]*)\\n') do
    if isReached(log_prefix .. name .. ':', allowed) then return index end
    index = index + 1
  end
end

-- How many entries of a list still count, and the first of them. They are in the order of time.
local function countingIn(log)
  local size = redis.call('LLEN', log)
  local low, high, first = 0, size, nil
  while low < high do
    local middle = math.floor((low + high) / 2)
    local time = redis.call('LINDEX', log, middle)
    if isCounting(time) then high, first = middle, time else low = middle + 1 end
  end
  return size - low, first
end

local function addCount(log, count, outcome)
  local earlier, first = countingIn(log .. (minute - 1))
  first = first or redis.call('LINDEX', log .. minute, 0)
  outcome[#outcome + 1] = count + earlier
  outcome[#outcome + 1] = first and math.ceil((first + ${LIMITED_MS * 1000} - now) / 1000) or 0
end

local LIMIT_NAMES = '([^\\n]*)\\n[^\\n]*\\n'

local function countIn(limits, outcome)
  for name in string.gmatch(limits, LIMIT_NAMES) do
    local log = log_prefix .. name .. ':'
    local count = redis.call('RPUSH', log .. minute, accepted)
    if count == 1 then redis.call('PEXPIRE', log .. minute, ${LOG_KEPT_MS}) end
    addCount(log, count, outcome)
  end
  return outcome
end

-- The same for a request that is refused.
local function addCounts(limits, outcome)
  for name in string.gmatch(limits, LIMIT_NAMES) do
    local log = log_prefix .. name .. ':'
    addCount(log, redis.call('LLEN', log .. minute), outcome)
  end
  return outcome
end

local function isDrained(used, more, quota, tolerance)
  return quota ~= '' and used + more >= quota - tolerance
end

local function isRefused(refusals, drawing, increases)
  for name, before in string.gmatch(refusals, '([^=,]+)=(%d+)') do
    if name == drawing and tonumber(before) >= (tonumber(increases) or 0) then return true end
  end
  return false
end

local function isCovered(usdQuota, tokenQuota, isPriced, windowAt, accountAt, tokens, nano, points, ownPoints, drawing)
  local window = windowAt ~= '0' and held[tonumber(windowAt)]
  if not window then return true end
  local cost, used, refusals = string.match(window, '^%S+ (%S+) (%S+) ?(%S*)')
  if not isDrained(cost, nano / ${NANO_USD}, usdQuota, 1e-9) and
     not isDrained(used, tokens, tokenQuota, 0) then return true end
  local account = accountAt ~= '0' and held[tonumber(accountAt)]
  if not account then return true end
  local balance, increases = string.match(account, '^%S+ (%S+) %S+ ?(%S*)')
  if isPriced ~= '1' or isRefused(refusals, drawing, increases) then return false end
  return tonumber(balance) - points >= math.max(ownPoints, 1)
end

local function isLeft(nano, budget, budgetAt)
  local fact = budgetAt ~= '0' and held[tonumber(budgetAt)]
  if not fact then return true end
  return not isDrained(string.match(fact, '^%S+ (%S+)'), nano / ${NANO_USD}, budget, 1e-9)
end

local function isFull(tally, id, callsMax)
  if tally.running < callsMax then return false end
  removeExpired(tally, ${SEARCH_STEPS})
  local entry = tally.calls[id]
  return tally.running >= callsMax and not (entry and struct.unpack(CALL, entry) > 0)
end

-- What all other calls of a tally hold: one that is admitted again does not count against itself.
local function othersIn(tally, id)
  local entry = tally.calls[id]
  if not entry then return tally.tokens, tally.nano, tally.points end
  local _, _, tokens, nano, points, used = struct.unpack(CALL, entry)
  if used == 1 then return tally.tokens, tally.nano, tally.points end
  return tally.tokens - tokens, tally.nano - nano, tally.points - points
end

local function admit(known, id, user, callsMax, ownTokens, ownNano, ownPoints, usdQuota, tokenQuota, isPriced, windowAt,
    accountAt, pool, key, limits)
  if epoch > tonumber(known) then return -1 end
  local reached = limits ~= '' and firstReached(limits)
  if reached then return reached end
  local tally = id ~= '' and tallyOf(calls_prefix .. user, id)
  if tally and isFull(tally, id, tonumber(callsMax)) then return addCounts(limits, { -2 }) end
  if not tally or ownTokens == '' then
    if tally then begin(tally, id, now_ms + kept_ms) end
    return limits == '' and -1 or countIn(limits, { 1, 0, 0, 0, 0, 0 })
  end
  local keyId, keyTokens, budget, budgetAt = string.match(key, '^(%S+) (%S*) (%S*) (%d+)$')
  local ofKey = keyId and tallyOf(pools_prefix .. 'key:' .. keyId, id)
  local keyUsed, keyFreeMs = 0, 0
  if ofKey and keyTokens ~= '' then
    local spent
    spent, keyFreeMs = tokensOf(keyId)
    if spent + othersIn(ofKey, id) - ofKey.usedTokens >= tonumber(keyTokens) then removeExpired(ofKey, ${SEARCH_STEPS}) end
    keyUsed = spent + othersIn(ofKey, id) - ofKey.usedTokens
    if keyUsed >= tonumber(keyTokens) then return addCounts(limits, { -3, keyFreeMs }) end
  end
  local ofPool = pool ~= '' and tallyOf(pools_prefix .. pool, id) or tally
  local drawing = pool ~= '' and pool or 'account:user:' .. user
  local tokens, nano, points, keyNano
  local function isAllowed()
    tokens, nano = othersIn(tally, id)
    points = select(3, othersIn(ofPool, id))
    if ofKey then
      keyNano = select(2, othersIn(ofKey, id))
      if not isLeft(keyNano, budget, budgetAt) then return false end
    end
    return isCovered(usdQuota, tokenQuota, isPriced, windowAt, accountAt, tokens, nano, points, amount(ownPoints), drawing)
  end
  local begins = isAllowed()
  if not begins then
    removeExpired(tally, ${SEARCH_STEPS})
    removeExpired(ofPool, ${SEARCH_STEPS})
    if ofKey then removeExpired(ofKey, ${SEARCH_STEPS}) end
    begins = isAllowed()
  end
  local outcome = { begins and 1 or 0, tokens, nano, points, tally.usedTokens, tally.usedNano }
  local ofKeyCounts = ofKey and { keyNano, ofKey.usedNano, keyUsed, keyFreeMs }
  if begins and ofKey then begin(ofKey, id, 0, ownTokens, ownNano, 0, '') end
  if begins and ofPool ~= tally then
    begin(ofPool, id, 0, 0, 0, ownPoints, '')
    ownPoints = 0
  end
  if begins then
    begin(tally, id, now_ms + kept_ms, ownTokens, ownNano, ownPoints, ofKey and pool .. '\\t' .. keyId or pool)
  end
  if limits ~= '' then countIn(limits, outcome) end
  if ofKey then outcome[#outcome + 1] = ofKeyCounts end
  return outcome
end

local outcomes = {}
for known, id, user, callsMax, ownTokens, ownNano, ownPoints, usdQuota, tokenQuota, isPriced, windowAt, accountAt, pool, key,
    limits in string.gmatch(ARGV[4], REQUEST) do
  outcomes[#outcomes + 1] = admit(known, id, user, callsMax, ownTokens, ownNano, ownPoints, usdQuota, tokenQuota, isPriced,
    windowAt, accountAt, pool, key, limits)
end
saveAll()
return { held, outcomes }
`);
