/**
 * Lua functions for a set of reservations: a sorted set has the ids by the time at which they expire, a hash beside it the
 * two amounts of each id, the sums of both, and the sums of what was used. Amounts are whole numbers, so that the sums are
 * exact; both keys vanish with the last id. A reservation of a user names the set in which it reserves points, so that one
 * ends with the other.
 */
export const RESERVED_LUA = `
local function whole(number) return string.format('%.0f', number) end

local function sumsOf(amounts, id)
  local held = redis.call('HMGET', amounts, 'first', 'second', 'used first', 'used second', id)
  return tonumber(held[1] or 0), tonumber(held[2] or 0), tonumber(held[3] or 0), tonumber(held[4] or 0), held[5]
end

local function read(held)
  local first, second, used, linked = string.match(held, '^(%d+) (%d+) (%d) ?(.*)$')
  return tonumber(first), tonumber(second), used == '1', linked
end

local function remove(set, id)
  if redis.call('ZREM', set, id) == 0 then return end
  local amounts = set .. ':amounts'
  local first, second, usedFirst, usedSecond, held = sumsOf(amounts, id)
  if not held then return end
  local ownFirst, ownSecond, isUsed, linked = read(held)
  if linked ~= '' then remove(linked, id) end
  if redis.call('EXISTS', set) == 0 then return redis.call('DEL', amounts) end
  redis.call('HDEL', amounts, id)
  if isUsed then usedFirst, usedSecond = usedFirst - ownFirst, usedSecond - ownSecond end
  redis.call('HSET', amounts, 'first', whole(first - ownFirst), 'second', whole(second - ownSecond),
    'used first', whole(usedFirst), 'used second', whole(usedSecond))
end
`;
