package redisadapter_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/internal/turns"
	"github.com/latchkeyhq/latchkey/storage"
)

// browser is what one says of itself.
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// asStored has what the library keeps of a session.
func asStored(token, user, agent string) storage.StoredSession {
	now := time.Now()
	return storage.StoredSession{
		ID: "9f1c7a526a0e4d3c8a550d9c2a1b7e44", Token: token, UserID: user, Expires: now.Add(30 * 24 * time.Hour), Created: now,
		UserAgent: agent, Provider: "github",
	}
}

// stored is an adapter with one session, and the keys of its two records.
func stored(b *testing.B, c redis.UniversalClient, one *redis.Client, agent string) (a *redisadapter.Adapter, session, user string) {
	b.Helper()
	a = on(b, c, redisadapter.Options{})
	u, err := a.CreateUser(b.Context(), storage.User{ID: "8a6e0804-2bd0-4672-b79d-d97027f9071a", Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: time.Now(), Image: "https://example.com/a.png"})
	ok(b, err)
	ok(b, a.CreateSession(b.Context(), asStored("t", u.ID, agent)))
	_, _, err = a.GetSessionAndUser(b.Context(), "t")
	ok(b, err)
	if one != nil {
		keys, err := one.Keys(b.Context(), "lk:s:*").Result()
		ok(b, err)
		session = keys[0]
	}
	return a, session, "lk:u:" + u.ID
}

// bareFollow is what follow does, and nothing else.
var bareFollow = redis.NewScript(`
local was = redis.call('GET', KEYS[1])
return {was, redis.call('GET', ARGV[1] .. cjson.decode(string.sub(was, string.find(was, '\n', 1, true) + 1)).user)}
`)

func BenchmarkRead(b *testing.B) {
	c := oneServer(b)
	a, session, _ := stored(b, c, c, browser)
	ctx := b.Context()
	b.Run("GetSession", func(b *testing.B) {
		turns.Compare(b, func(int) error {
			_, err := a.GetSession(ctx, "t")
			return err
		}, func(int) error { return c.Get(ctx, session).Err() })
	})
	b.Run("GetSessionAndUser", func(b *testing.B) {
		turns.Compare(b, func(int) error {
			_, _, err := a.GetSessionAndUser(ctx, "t")
			return err
		}, func(int) error { return bareFollow.Run(ctx, c, []string{session}, "lk:u:").Err() })
	})
}

func BenchmarkReadInCluster(b *testing.B) {
	c := clusterClient(b, realservers.NewRedisCluster(b))
	a, _, user := stored(b, c, nil, browser)
	ctx := b.Context()
	ok(b, c.Set(ctx, "some session", strings.Repeat("x", 400), 0).Err())
	turns.Compare(b, func(int) error {
		_, _, err := a.GetSessionAndUser(ctx, "t")
		return err
	}, func(int) error {
		if err := c.Get(ctx, "some session").Err(); err != nil {
			return err
		}
		return c.Get(ctx, user).Err()
	})
}

// bareLimit is the algorithm, and nothing else.
var bareLimit = redis.NewScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local full = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + ARGV[2] / ARGV[1]
if full > now + ARGV[2] then return 1 end
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return 0
`)

func BenchmarkTake(b *testing.B) {
	c := oneServer(b)
	a, ctx, rate := on(b, c, redisadapter.Options{}), b.Context(), storage.Rate{Events: 1e9, Per: time.Hour}
	turns.Compare(b, func(int) error {
		_, err := a.Take(ctx, "mail:ada@example.com", rate)
		return err
	}, func(int) error {
		return bareLimit.Run(ctx, c, []string{"l"}, rate.Events, rate.Per.Microseconds()).Err()
	})
}

// fill makes copies of a session and of its user's list: of KEYS[1], from number
// ARGV[1] to ARGV[2].
var fill = redis.NewScript(`
local was, list = redis.call('GET', KEYS[1]), redis.call('HKEYS', KEYS[2])[1]
for i = ARGV[1], ARGV[2] do
	local tail = string.format('%08d', i)
	redis.call('SET', string.sub(KEYS[1], 1, -9) .. tail, was, 'PX', 2700000000)
	redis.call('HSET', string.sub(KEYS[2], 1, -9) .. tail, string.sub(list, 1, -9) .. tail, '')
end
`)

// BenchmarkManySessions shows whether reading one depends on how many there are,
// and what each takes of the server's memory, its list entry included.
func BenchmarkManySessions(b *testing.B) {
	for _, n := range []int{1e3, 1e5, 1e6} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { readAmong(b, n, browser) })
	}
	b.Run("of no browser", func(b *testing.B) { readAmong(b, 1e5, "") })
}

func readAmong(b *testing.B, n int, agent string) {
	c := oneServer(b)
	a, session, user := stored(b, c, c, agent)
	ctx, before := b.Context(), used(b, c)
	for i := 0; i < n; i += 1000 {
		ok(b, ignoreNil(fill.Run(ctx, c, []string{session, strings.Replace(user, ":u:", ":b:", 1)}, i, i+999).Err()))
	}
	perSession := float64(used(b, c)-before) / float64(n)
	turns.Compare(b, func(int) error {
		_, err := a.GetSession(ctx, "t")
		return err
	}, func(int) error { return c.Get(ctx, session).Err() })
	b.ReportMetric(perSession, "B/session")
}

func ignoreNil(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

func used(b *testing.B, c *redis.Client) (n int) {
	b.Helper()
	info, err := c.Info(b.Context(), "memory").Result()
	ok(b, err)
	_, rest, _ := strings.Cut(info, "used_memory:")
	_, err = fmt.Sscan(rest, &n)
	ok(b, err)
	return n
}
