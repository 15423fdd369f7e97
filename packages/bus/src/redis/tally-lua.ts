/** How many fields one step of the search for expired calls looks at. */
const SEARCHED_AT_ONCE = 200;

/**
 * Lua functions for tallies. A tally is one hash: a field for each call of a user, and the sums of all of them in the field
 * `#`; or for each call the points that it reserves from the pool of a group. Amounts are whole numbers, so that the sums
 * are exact. A run reads each call once, and writes each tally once when it ends. The hash vanishes with its last call.
 *
 * A call is: when it expires as a call and as a reservation (0 for neither), its tokens, nano-USD and points, 1 if these are
 * used and no longer reserved; then its links: the name of the pool that its points are of, if it is not the wallet of the
 * user, and behind a tab the id of its key, if that has limits. The key has a tally of its own, as a pool has.
 *
 * The sums are: the number of fields, the number of running calls, the amounts of all, the used tokens and nano-USD, and a
 * time before which nothing expires. Numbers are binary, because text takes several times as long to write and to read; and
 * calls are no tables, for the same reason.
 */
export const TALLY_LUA = `
local CALL, SUMS = '<dddddd', '<I4I4dddddd'
local CALL_BYTES = struct.size(CALL)
local tallies, opened = {}, {}

local function tallyOf(key, id)
  local tally = tallies[key]
  if tally then
    if tally.calls[id] == nil then tally.calls[id] = redis.call('HGET', key, id) end
    return tally
  end
  local stored = redis.call('HMGET', key, '#', id)
  tally = { key = key, calls = { [id] = stored[2] }, changed = {}, size = 0, running = 0, tokens = 0, nano = 0, points = 0,
    usedTokens = 0, usedNano = 0, dueAt = 0 }
  if stored[1] then
    tally.size, tally.running, tally.tokens, tally.nano, tally.points, tally.usedTokens, tally.usedNano, tally.dueAt =
      struct.unpack(SUMS, stored[1])
  end
  tallies[key] = tally
  opened[#opened + 1] = tally
  return tally
end

local function count(tally, sign, call, tokens, nano, points, used)
  tally.size = tally.size + sign
  if call > 0 then tally.running = tally.running + sign end
  tally.tokens = math.max(0, tally.tokens + sign * tokens)
  tally.nano = math.max(0, tally.nano + sign * nano)
  tally.points = math.max(0, tally.points + sign * points)
  if used == 1 then
    tally.usedTokens = math.max(0, tally.usedTokens + sign * tokens)
    tally.usedNano = math.max(0, tally.usedNano + sign * nano)
  end
end

local function put(tally, id, call, held, tokens, nano, points, used, pool)
  local before = tally.calls[id]
  if before then
    local wasCall, _, hadTokens, hadNano, hadPoints, wasUsed = struct.unpack(CALL, before)
    count(tally, -1, wasCall, hadTokens, hadNano, hadPoints, wasUsed)
  end
  if call == 0 and held == 0 then
    tally.calls[id] = false
  else
    count(tally, 1, call, tokens, nano, points, used)
    tally.calls[id] = struct.pack(CALL, call, held, tokens, nano, points, used) .. pool
  end
  tally.changed[#tally.changed + 1] = id
end

local function remove(tally, id)
  put(tally, id, 0, 0)
end

local function linksOf(entry)
  return string.sub(entry, CALL_BYTES + 1)
end

local function splitLinks(links)
  if links == '' then return '', '' end
  return string.match(links, '^([^\\t]*)\\t?(.*)$')
end

local function release(pools_prefix, tally, id, entry, call)
  local pool, key = splitLinks(linksOf(entry))
  if pool ~= '' then remove(tallyOf(pools_prefix .. pool, id), id) end
  if key ~= '' then remove(tallyOf(pools_prefix .. 'key:' .. key, id), id) end
  put(tally, id, call, 0, 0, 0, 0, 0, '')
end

local function inParts(command, key, values)
  for first = 1, #values, 1000 do
    redis.call(command, key, unpack(values, first, math.min(first + 999, #values)))
  end
end

local function save(tally)
  if #tally.changed == 0 and not tally.isSearched then return end
  if tally.size == 0 then return redis.call('DEL', tally.key) end
  local values = { '#', struct.pack(SUMS, tally.size, tally.running, tally.tokens, tally.nano, tally.points,
    tally.usedTokens, tally.usedNano, tally.dueAt) }
  local removed = {}
  for _, id in ipairs(tally.changed) do
    local entry = tally.calls[id]
    if entry then
      values[#values + 1] = id
      values[#values + 1] = entry
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

/**
 * Lua function that removes what has expired, as far as it finds it in so many steps; the next search goes on from there
 * (the field `?`). It needs `now_ms` and `kept_ms`.
 */
export const SEARCH_LUA = `
local function dropExpired(tally, id, entry)
  local call, held, tokens, nano, points, used = struct.unpack(CALL, entry)
  local isCall, isHeld = call > 0 and call <= now_ms, held > 0 and held <= now_ms
  if isCall then call = 0 end
  if isHeld then
    put(tally, id, call, 0, 0, 0, 0, 0, '')
    held = 0
  elseif isCall then
    put(tally, id, 0, held, tokens, nano, points, used, linksOf(entry))
  end
  return math.min(call > 0 and call or math.huge, held > 0 and held or math.huge)
end

local function removeExpired(tally, steps)
  if tally.isSearched or tally.size == 0 or now_ms < tally.dueAt then return end
  tally.isSearched = true
  local cursor, dueAt = '0', now_ms + kept_ms
  local begun = redis.call('HGET', tally.key, '?')
  if begun then
    cursor, dueAt = string.match(begun, '^(%d+) (%d+)$')
    dueAt = tonumber(dueAt)
  end
  for _ = 1, steps do
    local found = redis.call('HSCAN', tally.key, cursor, 'COUNT', ${SEARCHED_AT_ONCE})
    cursor = found[1]
    for index = 1, #found[2], 2 do
      local id, entry = found[2][index], found[2][index + 1]
      if id ~= '#' and id ~= '?' then
        if tally.calls[id] ~= nil then entry = tally.calls[id] end
        tally.calls[id] = entry
        if entry then dueAt = math.min(dueAt, dropExpired(tally, id, entry)) end
      end
    end
    if cursor == '0' then break end
  end
  if cursor == '0' then
    tally.dueAt = dueAt
    if begun then redis.call('HDEL', tally.key, '?') end
  else
    redis.call('HSET', tally.key, '?', string.format('%s %d', cursor, dueAt))
  end
end
`;
