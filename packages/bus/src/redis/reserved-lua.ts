/**
 * Lua functions for a set of reservations: a sorted set has the ids by the time at which they expire, a hash beside it the
 * two amounts of each id, the sums of both, and the sums of what was used. Amounts are whole numbers, so that the sums are
 * exact; both keys vanish with the last id. A reservation of a user names the set in which it reserves points, so that one
 * ends with the other.
 */
export const RESERVED_LUA = `
local function increase(amounts, sum, first, second)
  if first ~= 0 then redis.call('HINCRBY', amounts, sum .. 'first', string.format('%.0f', first)) end
  if second ~= 0 then redis.call('HINCRBY', amounts, sum .. 'second', string.format('%.0f', second)) end
end

local function read(amounts, id)
  local held = redis.call('HGET', amounts, id)
  if not held then return end
  local first, second, used, linked = string.match(held, '^(%d+) (%d+) (%d) ?(.*)$')
  return tonumber(first), tonumber(second), used == '1', linked
end

local function remove(set, id)
  if redis.call('ZREM', set, id) == 0 then return end
  local amounts = set .. ':amounts'
  local first, second, used, linked = read(amounts, id)
  if not first then return end
  if linked ~= '' then remove(linked, id) end
  if redis.call('EXISTS', set) == 0 then return redis.call('DEL', amounts) end
  redis.call('HDEL', amounts, id)
  increase(amounts, '', -first, -second)
  if used then increase(amounts, 'used ', -first, -second) end
end
`;
