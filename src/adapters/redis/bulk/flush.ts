import { grouped } from '../../../core/grouped.ts'
import { sessionKeys } from '../../../knowledge/session-keys.ts'
import { timeFields } from '../times.ts'
import type { Node } from './node.ts'
import { command, errorIn, integerIn } from './page.ts'

/** most keys to check in one step; meanwhile the store answers nobody, for some 0.2 s */
const mostAtOnce = 50_000

/**
 * Checks every key by name and type, and empties the database if all belong to the key space, in one instant. Counts
 * cannot show that: they stay the same if a session ends as another program's key arrives. Answers 1; 0 if a key does
 * not belong to the key space; -1 if there are too many keys.
 */
const script = `
local session, mark, user, minute, sorted = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local four = '%x%x%x%x'
local uuid = '^' .. four .. four .. '%-' .. four .. '%-' .. four .. '%-' .. four .. '%-' .. four .. four .. four .. '$'
local function after(key, prefix)
  return string.sub(key, 1, #prefix) == prefix and #key > #prefix and string.sub(key, #prefix + 1) or nil
end
local function isId(text)
  return text and not string.find(text, ':', 1, true)
end
local function hasTimes(key)
  for _, value in ipairs(redis.call('HMGET', key, ARGV[7], ARGV[8], ARGV[9])) do
    if value then return true end
  end
  return false
end
local function isOwn(key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'hash' then
    local id = after(key, session)
    return isId(id) and (string.find(id, uuid) or hasTimes(key))
  end
  if kind == 'string' then return isId(after(key, mark)) end
  if kind == 'set' then return after(key, user) or isId(after(key, minute)) end
  return kind == 'zset' and key == sorted
end
if redis.call('DBSIZE') > tonumber(ARGV[6]) then return -1 end
local cursor = '0'
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    if not isOwn(key) then return 0 end
  end
until cursor == '0'
redis.call('FLUSHDB', 'ASYNC')
return 1`

/**
 * Empties the database and returns null, if it holds only sessions of that key space and their index. Otherwise returns
 * the reason why not.
 */
export async function flushIfOnly({ wire, peer }: Node, namespace: string): Promise<string | null> {
  const shapes = [
    sessionKeys.session(namespace, ''),
    sessionKeys.expires(namespace, ''),
    sessionKeys.userIndex(namespace, ''),
    sessionKeys.expirations(namespace, ''),
    sessionKeys.sortedExpirations(namespace),
  ]
  let why: string | null = null
  await wire.send([command('EVAL', script, '0', ...shapes, String(mostAtOnce), ...timeFields)], 1, (reply) => {
    if (errorIn(reply) !== null)
      why = 'the store does not let this user empty it in one command (FLUSHDB is disabled, renamed or forbidden)'
    else why = reasons[integerIn(reply, peer)] ?? null
  })
  return why
}

const reasons: Readonly<Record<number, string>> = {
  0: 'this database holds a key that is not a session',
  [-1]: `this database holds more than ${grouped(mostAtOnce)} keys, too many to check in one step`,
}
