package redisadapter_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	manySessions = 5000
	aCall        = 10 * time.Second // the default of Limits.StoreTimeout
)

func tokenOf(i int) string { return fmt.Sprintf("token-%04d", i) }

// openMany opens sessions of somebody: one by the adapter, and copies of it with
// other tokens and ids, all in one go.
func openMany(t *testing.T, c *redis.Client, a *redisadapter.Adapter, prefix, user string) {
	t.Helper()
	ctx := t.Context()
	first := user + tokenOf(0)
	ok(t, a.CreateSession(ctx, storage.StoredSession{Token: first, ID: first, UserID: user, Expires: time.Now().Add(time.Hour)}))
	list, key := prefix+"user:owned:by-user-id:"+user, func(token string) string { return prefix + "user:session:" + token }
	add := func(p redis.Pipeliner, token string) { p.SAdd(ctx, list, key(token)) }
	if prefix == ours {
		list = prefix + "b:" + user
		name, part, _ := strings.Cut(c.HKeys(ctx, list).Val()[0], "=")
		key = func(token string) string {
			hash := sha256.Sum256([]byte(token))
			return prefix + "s:" + base64.RawURLEncoding.EncodeToString(hash[:])[:len(name)-len("s:")]
		}
		add = func(p redis.Pipeliner, token string) {
			p.HSet(ctx, list, strings.TrimPrefix(key(token), prefix)+"="+part, "")
		}
	}
	text, err := c.Get(ctx, key(first)).Result()
	ok(t, err)
	_, err = c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := 1; i < manySessions; i++ {
			token := user + tokenOf(i)
			p.Set(ctx, key(token), strings.ReplaceAll(text, first, token), 25*time.Hour)
			add(p, token)
		}
		return nil
	})
	ok(t, err)
	if rows, err := a.ListSessions(ctx, user); err != nil || len(rows) != manySessions {
		t.Fatalf("%d sessions are open, error %v", len(rows), err)
	}
}

const (
	ours   = "ours:"
	authJS = "Auth.js:"
)

// inCalls tries until a call ends in time, which is the first but on a machine
// that has much else to do.
func inCalls(t *testing.T, do func(context.Context) error) {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), aCall)
		err := do(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			t.Log("another try")
			continue
		}
		ok(t, err)
		return
	}
}

// TestThousandsOfSessions of one user end within one call. That this does not hang
// on the speed of a server is shown in package kvstore.
func TestThousandsOfSessions(t *testing.T) {
	c := oneServer(t)
	for prefix, layout := range map[string]redisadapter.Layout{ours: {}, authJS: redisadapter.AuthJS()} {
		a := on(t, c, redisadapter.Options{Layout: layout, Prefix: prefix})
		for _, id := range []string{"ada", "eve"} {
			_, err := a.CreateUser(t.Context(), storage.User{ID: id})
			ok(t, err)
			openMany(t, c, a, prefix, id)
		}
		t.Run(prefix+" signed out everywhere", func(t *testing.T) {
			kept := "ada" + tokenOf(77)
			inCalls(t, func(ctx context.Context) error { _, err := a.DeleteSessions(ctx, "ada", kept); return err })
			left, err := a.ListSessions(t.Context(), "ada")
			if err != nil || len(left) != 1 || left[0].ID != kept {
				t.Errorf("listed are %v, error %v", left, err)
			}
			_, err = a.GetSession(t.Context(), "ada"+tokenOf(78))
			notFound(t, "a session", err)
			_, err = a.GetSession(t.Context(), kept)
			ok(t, err)
		})
		t.Run(prefix+" deleted", func(t *testing.T) {
			inCalls(t, func(ctx context.Context) error { _, err := a.DeleteUser(ctx, "eve"); return err })
			_, err := a.GetSession(t.Context(), "eve"+tokenOf(4711))
			notFound(t, "a session", err)
			if left := append(keysOf(t, c, prefix+"b:eve"), keysOf(t, c, prefix+"user:owned:*:eve")...); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
		})
	}
}

// TestSessionsThatChangeMeanwhile: one that is renewed while a hundred end
// together ends by itself.
func TestSessionsThatChangeMeanwhile(t *testing.T) {
	a := on(t, oneServer(t), redisadapter.Options{Layout: redisadapter.AuthJS()})
	u, err := a.CreateUser(t.Context(), storage.User{})
	ok(t, err)
	expires := time.Now().Add(time.Hour)
	for i := range 50 {
		ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: tokenOf(i), UserID: u.ID, Expires: expires}))
	}
	begun, stop := make(chan struct{}), make(chan struct{})
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			err := a.UpdateSession(t.Context(), tokenOf(i%50), expires.Add(time.Duration(i)*time.Second))
			if i == 0 {
				close(begun)
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
	<-begun
	n, err := a.DeleteSessions(t.Context(), u.ID, "")
	close(stop)
	renewing.Wait()
	if err != nil || n != 50 {
		t.Errorf("%d sessions ended, error %v", n, err)
	}
	for i := range 50 {
		_, err := a.GetSession(t.Context(), tokenOf(i))
		notFound(t, tokenOf(i), err)
	}
}
