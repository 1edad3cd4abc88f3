package redisadapter

import "github.com/redis/go-redis/v9"

// A record is one string: its version, a line feed, its value. The scripts run
// whole, one at a time, and each has one key, so that in a cluster it stays in
// one slot. They ask for nothing that is newer than Redis 7.0.

// hasVersion is for all scripts that compare versions.
const hasVersion = `
local function has(was, version)
	return string.sub(was, 1, #version + 1) == version .. '\n'
end
`

// put writes ARGV[3] over the version ARGV[2], or over nothing if that is empty. The record
// lives for ARGV[4] milliseconds, for ever if that is 0. Its own version, ARGV[1], is there
// already if the client repeats a call after a lost answer. put returns 1 if it has written
// or finds its own version, and 0 if the key has anything else than ARGV[2]. ARGV[5] is 1 for
// the mark of a record that was ended. If there is no memory for the mark, put deletes the
// record and returns 1, so that all users can sign out.
var put = redis.NewScript(hasVersion + `
local was = redis.call('GET', KEYS[1])
if was then
	if has(was, ARGV[1]) then return 1 end
	if ARGV[2] == '' or not has(was, ARGV[2]) then return 0 end
elseif ARGV[2] ~= '' then
	return 0
end
if ARGV[4] == '0' then
	redis.call('SET', KEYS[1], ARGV[3])
	return 1
end
local done = redis.pcall('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
if not done.err then return 1 end
if ARGV[5] ~= '1' or not string.find(done.err, 'OOM', 1, true) then return done end
redis.call('DEL', KEYS[1])
return 1
`)

// remove deletes the version ARGV[1], any version if that is empty, and returns
// the record. It returns 0 if the record has another version, and nil if there is
// none. If ARGV[2] is 1, it writes even if it finds nothing: a call that repeats
// a deletion can then wait until replicas have the first one.
var remove = redis.NewScript(hasVersion + `
local was = redis.call('GET', KEYS[1])
if was then
	if ARGV[1] ~= '' and not has(was, ARGV[1]) then return 0 end
	redis.call('DEL', KEYS[1])
elseif ARGV[2] == '1' then
	redis.call('SET', KEYS[1], '', 'PX', 1000)
	redis.call('DEL', KEYS[1])
end
return was
`)

// own adds the field ARGV[1] to a list, to be kept for ARGV[2] milliseconds, for
// ever if that is 0. A field that is kept longer already stays as it is. own
// looks at ten fields at random, and removes those that have expired. So on average at
// most a tenth of a list is expired, even if its user signs in and never reads it. The
// list as a whole goes when its last field may.
var own = redis.NewScript(`
local now, life = tonumber(redis.call('TIME')[1]), tonumber(ARGV[2])
local was, left = redis.call('HGET', KEYS[1], ARGV[1]), redis.call('PTTL', KEYS[1])
local to = life == 0 and '' or string.format('%d', now + math.ceil(life / 1000))
if was and (was == '' or to ~= '' and tonumber(was) >= tonumber(to)) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], to)
local some = redis.call('HRANDFIELD', KEYS[1], 10, 'WITHVALUES')
for i = 1, #some, 2 do
	if some[i + 1] ~= '' and tonumber(some[i + 1]) < now then redis.call('HDEL', KEYS[1], some[i]) end
end
if life == 0 then
	redis.call('PERSIST', KEYS[1])
elseif left == -2 or left >= 0 and left < life then
	redis.call('PEXPIRE', KEYS[1], life)
end
return 1
`)

// follow reads a record and the user that its value names, usually at its
// beginning. ARGV[1] begins the users' keys. The second key is not known before
// the call, so follow does not work in a cluster. It returns the texts of the
// record and of the user, with the user's name between them.
var follow = redis.NewScript(`
local was = redis.call('GET', KEYS[1])
if not was then return {} end
local user = string.match(was, '^[^\n]*\n{"user":"([%w_=-]+)"')
if not user then
	local from = string.find(was, '\n', 1, true)
	local ok, value = pcall(cjson.decode, string.sub(was, (from or 0) + 1))
	user = ok and type(value) == 'table' and value.user
	if type(user) ~= 'string' or not string.match(user, '^[%w_=-]+$') then return {was} end
end
if #user > 64 then return {was} end
return {was, user, redis.call('GET', ARGV[1] .. user)}
`)

// take counts an event by the generic cell rate algorithm and the server's clock:
// the key holds when it will be empty again, in microseconds. ARGV[1] events fit
// into ARGV[2] microseconds. It returns how many microseconds to wait, or 0 if it
// counted the event. A later time than that of a full key was written before the
// clock was set back, and counts as full.
var take = redis.NewScript(`
local clock = redis.call('TIME')
local now, per = clock[1] * 1000000 + clock[2], tonumber(ARGV[2])
local function keep(full)
	redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil((full - now) / 1000))
end
local was = tonumber(redis.call('GET', KEYS[1]) or 0)
if was > now + per then
	was = now + per
	keep(was)
end
local full = math.max(now, was) + per / ARGV[1]
if full > now + per then return math.ceil(full - now - per) end
keep(full)
return 0
`)

// giveBack takes back one event that take has counted. Its arguments are those of take.
var giveBack = redis.NewScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local full = math.min(tonumber(redis.call('GET', KEYS[1]) or 0), now + ARGV[2]) - ARGV[2] / ARGV[1]
if full > now then
	redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil((full - now) / 1000))
else
	redis.call('DEL', KEYS[1])
end
return 0
`)
