package redisadapter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// entries returns how many entries the lists below a prefix have, and whether a list is
// kept for ever.
func entries(t *testing.T, c *redis.Client, prefix string) (n int64, isEndless bool) {
	t.Helper()
	for _, key := range keysOf(t, c, prefix+"*") {
		switch c.Type(t.Context(), key).Val() {
		case "hash":
			n += c.HLen(t.Context(), key).Val()
		case "set":
			n += c.SCard(t.Context(), key).Val()
		default:
			continue
		}
		isEndless = isEndless || c.PTTL(t.Context(), key).Val() < 0
	}
	return n, isEndless
}

// TestListsDoNotGrow: R-541, a user who signs in and never looks at their sessions has a
// list that is about as long as they have sessions. When the last one has expired,
// nothing is left of a user who is elsewhere, but for a few entries in the set that
// stands beside the keys of Auth.js. Before entries expired, the lists of 400 sign-ins had
// 400.
func TestListsDoNotGrow(t *testing.T) {
	c := oneServer(t)
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			prefix := name + ":"
			a := on(t, c, redisadapter.Options{Layout: layout, Prefix: prefix})
			for round := range 20 {
				for i := range 20 {
					ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: fmt.Sprint(round, ".", i), UserID: "ada", Expires: time.Now().Add(time.Hour)}))
				}
				forward(t, c, 26*time.Hour)
			}
			for i := range 40 {
				ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: fmt.Sprint("last ", i), UserID: "ada", Expires: time.Now().Add(time.Hour)}))
			}
			if n, _ := entries(t, c, prefix); n > 80 {
				t.Errorf("R-541: the list of 40 sessions has %d entries", n)
			}
			forward(t, c, 26*time.Hour)
			n, isEndless := entries(t, c, prefix)
			if layout == (redisadapter.Layout{}) && (n > 0 || isEndless) || n > 40 {
				t.Errorf("R-541: %d entries are left, for ever: %t", n, isEndless)
			}
		})
	}
}

// TestEndAllLeavesNothing: R-541, signing out everywhere removes the list of a user, with
// what is left over in it.
func TestEndAllLeavesNothing(t *testing.T) {
	c := oneServer(t)
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			prefix := name + ":"
			a := on(t, c, redisadapter.Options{Layout: layout, Prefix: prefix})
			for i := range 300 {
				ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: tokenOf(i), UserID: "ada", Expires: time.Now().Add(time.Hour)}))
			}
			for _, key := range keysOf(t, c, prefix+"*") { // as if a server had lost them
				if strings.Contains(key, ":s:") || strings.Contains(key, "user:session:token-") {
					ok(t, c.Del(t.Context(), key).Err())
				}
			}
			_, err := a.DeleteSessions(t.Context(), "ada", "")
			ok(t, err)
			left := slices.DeleteFunc(keysOf(t, c, prefix+"*"), func(key string) bool {
				return c.Type(t.Context(), key).Val() == "string" && strings.Contains(key, ":s:")
			})
			if len(left) > 0 {
				t.Errorf("R-541: left are %v", left)
			}
		})
	}
}

// refusing is a hook of a server that refuses scripts which read a key that was not named.
type refusing struct{ refused int }

var errUndeclared = errors.New("ERR Error running script: script tried accessing undeclared key")

// DialHook implements [redis.Hook].
func (r *refusing) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements [redis.Hook].
func (r *refusing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		args := cmd.Args()
		follows := strings.HasPrefix(cmd.Name(), "eval") && len(args) == 5 && strings.HasSuffix(fmt.Sprint(args[4]), "u:")
		if follows {
			r.refused++
			cmd.SetErr(errUndeclared)
			return errUndeclared
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (r *refusing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestServersThatWantKeysNamed: R-546, such as Dragonfly: a session and its user are read
// by two commands, after one try.
func TestServersThatWantKeysNamed(t *testing.T) {
	c, hook := oneServer(t), &refusing{}
	c.AddHook(hook)
	a := on(t, c, redisadapter.Options{})
	u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada"})
	ok(t, err)
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: time.Now().Add(time.Hour)}))
	for range 3 {
		_, found, err := a.GetSessionAndUser(t.Context(), "t")
		if err != nil || found.ID != u.ID {
			t.Fatalf("the session is of %q, error %v", found.ID, err)
		}
	}
	if hook.refused != 1 {
		t.Errorf("%d tries, want one", hook.refused)
	}
}

// TestLimitAfterAStepBack: R-546, the clock of a server that is set back locks a key for
// one period at most.
func TestLimitAfterAStepBack(t *testing.T) {
	c := oneServer(t)
	a := on(t, c, redisadapter.Options{})
	rate := storage.Rate{Events: 3, Per: time.Minute}
	ahead := time.Now().Add(24 * time.Hour).UnixMicro()
	ok(t, c.Set(t.Context(), "lk:l:k", ahead, 0).Err())
	for range 2 {
		if wait, err := a.Take(t.Context(), "k", rate); err != nil || wait <= 0 || wait > rate.Per/3 {
			t.Errorf("wait %v, error %v, want at most %v", wait, err, rate.Per/3)
		}
	}
	ok(t, a.Return(t.Context(), "k", rate))
	if wait, err := a.Take(t.Context(), "k", rate); err != nil || wait > 0 {
		t.Errorf("after Return: wait %v, error %v", wait, err)
	}
}
