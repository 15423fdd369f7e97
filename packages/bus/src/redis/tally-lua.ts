/** How many fields one step of the search for expired calls looks at. */
const SEARCHED_AT_ONCE = 200;

/**
 * Lua functions for tallies. A tally is one hash: a field for each call of a user, and the sums of them all in the field `#`;
 * or for each call the points that it reserves from the pool of a group. Amounts are whole numbers, so that the sums are
 * exact. A run reads each call once, and writes each tally once when it ends. The hash vanishes with its last call.
 *
 * A call is: when it expires as a call and as a reservation (0 for neither), its tokens, nano-USD and points, 1 if these are
 * used and no longer reserved, and the name of the pool that its points are of (empty for the wallet of the user).
 *
 * The sums are: how many fields and how many running calls there are, the amounts, the used tokens and nano-USD, and a time
 * before which nothing expires; then where the search for what has expired goes on, and what it knows about the next time.
 */
export const TALLY_LUA = `
local CALL = '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d) (.*)$'
local SUMS = '^' .. string.rep('(%d+) ', 9) .. '(%d+)$'
local tallies, opened = {}, {}

local function readCall(text)
  if not text then return false end
  local call, held, tokens, nano, points, used, pool = string.match(text, CALL)
  return { call = tonumber(call), held = tonumber(held), tokens = tonumber(tokens), nano = tonumber(nano),
    points = tonumber(points), used = tonumber(used), pool = pool }
end

local function tallyOf(key, id)
  local tally = tallies[key]
  if tally then
    if tally.calls[id] == nil then tally.calls[id] = readCall(redis.call('HGET', key, id)) end
    return tally
  end
  local stored = redis.call('HMGET', key, '#', id)
  local size, running, tokens, nano, points, usedTokens, usedNano, dueAt, cursor, nextDueAt =
    string.match(stored[1] or '0 0 0 0 0 0 0 0 0 0', SUMS)
  tally = { key = key, calls = { [id] = readCall(stored[2]) }, changed = {}, size = tonumber(size),
    running = tonumber(running), tokens = tonumber(tokens), nano = tonumber(nano), points = tonumber(points),
    usedTokens = tonumber(usedTokens), usedNano = tonumber(usedNano), dueAt = tonumber(dueAt), cursor = cursor,
    nextDueAt = tonumber(nextDueAt) }
  tallies[key] = tally
  opened[#opened + 1] = tally
  return tally
end

local function count(tally, call, sign)
  tally.size = tally.size + sign
  if call.call > 0 then tally.running = tally.running + sign end
  if call.held == 0 then return end
  tally.tokens = tally.tokens + sign * call.tokens
  tally.nano = tally.nano + sign * call.nano
  tally.points = tally.points + sign * call.points
  if call.used == 0 then return end
  tally.usedTokens = tally.usedTokens + sign * call.tokens
  tally.usedNano = tally.usedNano + sign * call.nano
end

local function put(tally, id, call)
  local before = tally.calls[id]
  if before then count(tally, before, -1) end
  if call.call == 0 and call.held == 0 then call = false end
  if call then count(tally, call, 1) end
  tally.calls[id] = call
  tally.changed[#tally.changed + 1] = id
end

local NOTHING = { call = 0, held = 0, tokens = 0, nano = 0, points = 0, used = 0, pool = '' }

local function without(call, isCall, isHeld)
  if isHeld then return { call = isCall and 0 or call.call, held = 0, tokens = 0, nano = 0, points = 0, used = 0, pool = '' } end
  return { call = isCall and 0 or call.call, held = call.held, tokens = call.tokens, nano = call.nano,
    points = call.points, used = call.used, pool = call.pool }
end

local function settle(calls_prefix, pools_prefix, user, id)
  local tally = tallyOf(calls_prefix .. user, id)
  local call = tally.calls[id]
  if not call or call.held == 0 then return end
  if call.pool ~= '' then put(tallyOf(pools_prefix .. call.pool, id), id, NOTHING) end
  put(tally, id, without(call, false, true))
end

local function inParts(command, key, values)
  for first = 1, #values, 1000 do
    redis.call(command, key, unpack(values, first, math.min(first + 999, #values)))
  end
end

local function save(tally)
  if #tally.changed == 0 and not tally.isSearched then return end
  if tally.size == 0 then return redis.call('DEL', tally.key) end
  local values = { '#', string.format('%d %d %d %d %d %d %d %d %s %d', tally.size, tally.running, tally.tokens, tally.nano,
    tally.points, tally.usedTokens, tally.usedNano, tally.dueAt, tally.cursor, tally.nextDueAt) }
  local removed = {}
  for _, id in ipairs(tally.changed) do
    local call = tally.calls[id]
    if call then
      values[#values + 1] = id
      values[#values + 1] = string.format('%d %d %d %d %d %d %s', call.call, call.held, call.tokens, call.nano, call.points,
        call.used, call.pool)
    else
      removed[#removed + 1] = id
    end
  end
  inParts('HSET', tally.key, values)
  inParts('HDEL', tally.key, removed)
  if tally.keptMs then redis.call('PEXPIRE', tally.key, tally.keptMs) end
end

local function saveAll()
  for _, tally in ipairs(opened) do save(tally) end
end
`;

/** Lua function that removes what has expired, as far as it finds it in so many steps. It needs `now_ms` and `kept_ms`. */
export const SEARCH_LUA = `
local function removeExpired(tally, steps)
  if tally.isSearched or tally.size == 0 or now_ms < tally.dueAt then return end
  tally.isSearched = true
  for _ = 1, steps do
    if tally.cursor == '0' then tally.nextDueAt = now_ms + kept_ms end
    local found = redis.call('HSCAN', tally.key, tally.cursor, 'COUNT', ${SEARCHED_AT_ONCE})
    tally.cursor = found[1]
    for index = 1, #found[2], 2 do
      local id = found[2][index]
      if id ~= '#' then
        if tally.calls[id] == nil then tally.calls[id] = readCall(found[2][index + 1]) end
        local call = tally.calls[id]
        if call then
          local isCall, isHeld = call.call > 0 and call.call <= now_ms, call.held > 0 and call.held <= now_ms
          if isCall or isHeld then
            put(tally, id, without(call, isCall, isHeld))
            call = tally.calls[id] or NOTHING
          end
          if call.call > 0 then tally.nextDueAt = math.min(tally.nextDueAt, call.call) end
          if call.held > 0 then tally.nextDueAt = math.min(tally.nextDueAt, call.held) end
        end
      end
    end
    if tally.cursor == '0' then
      tally.dueAt = tally.nextDueAt
      return
    end
  end
end
`;
