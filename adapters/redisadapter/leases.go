package redisadapter

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// takeLease gives the key to the holder ARGV[1] for ARGV[2] milliseconds, by the server's
// clock. The value is the end of the lease, a line feed and the holder. It returns {1, 0}, or
// {1, 1} if the lease of another holder had expired without release. While another holder has
// the key, it changes nothing, and returns 0 and how many milliseconds that lease lasts.
var takeLease = redis.NewScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local was, abandoned = redis.call('GET', KEYS[1]), 0
if was then
	local cut = string.find(was, '\n', 1, true)
	local ends = tonumber(string.sub(was, 1, cut - 1))
	if string.sub(was, cut + 1) ~= ARGV[1] then
		if ends > now then return {0, ends - now} end
		abandoned = 1
	end
end
redis.call('SET', KEYS[1], string.format('%.0f', now + ARGV[2]) .. '\n' .. ARGV[1], 'PX', string.format('%.0f', ARGV[2] + 86400000))
return {1, abandoned}
`)

// endLease deletes the key if the holder ARGV[1] has it.
var endLease = redis.NewScript(`
local was = redis.call('GET', KEYS[1])
if was and string.sub(was, string.find(was, '\n', 1, true) + 1) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
`)

// TakeLease implements [kvstore.LeaseConn]. It rounds life up to a millisecond.
func (c *conn) TakeLease(ctx context.Context, k kvstore.Key, holder string, life time.Duration) (storage.Lease, error) {
	ms := max(1, (life + time.Millisecond - 1).Milliseconds())
	answer, err := c.run(ctx, false, takeLease, []string{c.key(k)}, holder, ms).Int64Slice()
	if err == nil && len(answer) != 2 {
		err = errors.New("the script has answered something else")
	}
	if err != nil {
		return storage.Lease{}, fault("lease", err)
	}
	if answer[0] == 0 {
		return storage.Lease{Wait: time.Duration(answer[1]) * time.Millisecond}, nil
	}
	return storage.Lease{Held: true, Abandoned: answer[1] == 1}, nil
}

// EndLease implements [kvstore.LeaseConn].
func (c *conn) EndLease(ctx context.Context, k kvstore.Key, holder string) error {
	return fault("release", c.run(ctx, false, endLease, []string{c.key(k)}, holder).Err())
}
