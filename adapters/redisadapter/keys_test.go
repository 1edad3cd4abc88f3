package redisadapter_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// keysOf are all keys below a prefix, or the only one with a part in its name.
func keysOf(t *testing.T, c *redis.Client, pattern string) []string {
	t.Helper()
	keys, err := c.Keys(t.Context(), pattern).Result()
	ok(t, err)
	return keys
}

// forward lets time pass for the keys of a server and the fields of its lists: each
// lives so much shorter.
func forward(t *testing.T, c *redis.Client, d time.Duration) {
	t.Helper()
	for _, key := range keysOf(t, c, "*") {
		left, err := c.PTTL(t.Context(), key).Result()
		ok(t, err)
		forwardFields(t, c, key, d)
		switch {
		case left < 0: // for ever
		case left <= d:
			ok(t, c.Del(t.Context(), key).Err())
		default:
			ok(t, c.PExpire(t.Context(), key, left-d).Err())
		}
	}
}

func forwardFields(t *testing.T, c *redis.Client, key string, d time.Duration) {
	t.Helper()
	fields, err := c.HGetAll(t.Context(), key).Result()
	if err != nil {
		return // it is no list
	}
	for field, until := range fields {
		if at, err := strconv.ParseInt(until, 10, 64); err == nil {
			ok(t, c.HSet(t.Context(), key, field, at-int64(d/time.Second)).Err())
		}
	}
}

func notFound(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("%s: error %v, want ErrNotFound", what, err)
	}
}

var layouts = map[string]redisadapter.Layout{"ours": {}, "Auth.js'": redisadapter.AuthJS()}

// TestExpiredSessionIsFound: S-054. Redis removes at once what is stored with an
// expiry in the past, and "expired" would become "ended".
func TestExpiredSessionIsFound(t *testing.T) {
	c := oneServer(t)
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			a := on(t, c, redisadapter.Options{Layout: layout, Prefix: name + ":"})
			u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
			ok(t, err)
			past := time.Now().Add(-240 * time.Hour).Truncate(time.Millisecond)
			for range 3 {
				ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: past}))
				s, _, err := a.GetSessionAndUser(t.Context(), "t")
				if err != nil || !s.Expires.Equal(past) {
					t.Fatalf("an expired session: %v, error %v", s.Expires, err)
				}
				forward(t, c, 23*time.Hour)
				_, err = a.GetSession(t.Context(), "t")
				ok(t, err)
				forward(t, c, 2*time.Hour)
				_, err = a.GetSession(t.Context(), "t")
				notFound(t, "a day later", err)
			}
			list, err := a.ListSessions(t.Context(), u.ID)
			if err != nil || len(list) > 0 {
				t.Errorf("listed are %v, error %v", list, err)
			}
			for _, key := range keysOf(t, c, name+":*") {
				if kind := c.Type(t.Context(), key).Val(); kind == "hash" {
					t.Errorf("the list has %v", c.HKeys(t.Context(), key).Val())
				} else if kind == "set" {
					t.Errorf("the list has %v", c.SMembers(t.Context(), key).Val())
				}
			}
			_, err = a.GetUser(t.Context(), u.ID)
			ok(t, err)
		})
	}
}

// TestAddressesOfOneKey: unstorage cuts and joins keys, so an address can have
// the key of somebody else's. It takes nothing from them.
func TestAddressesOfOneKey(t *testing.T) {
	ctx, a := t.Context(), on(t, oneServer(t), redisadapter.Options{Layout: redisadapter.Unstorage()})
	ada, err := a.CreateUser(ctx, storage.User{Email: "ada@example.com"})
	ok(t, err)
	eve, err := a.CreateUser(ctx, storage.User{Email: "eve@example.com"})
	ok(t, err)
	isAdas := func(email string) {
		t.Helper()
		u, err := a.GetUserByEmail(ctx, email)
		if err != nil || u.ID != ada.ID {
			t.Errorf("%s is %q's, error %v", email, u.ID, err)
		}
	}
	for _, email := range []string{"/ada@example.com", "ada@example.com?x", ":ada@example.com", "ada@example.com//"} {
		if _, err := a.CreateUser(ctx, storage.User{Email: email}); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("a sign-up as %s: %v", email, err)
		}
		if _, err := a.UpdateUser(ctx, eve.ID, storage.UserChange{Email: &email}); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("a change to %s: %v", email, err)
		}
		isAdas("ada@example.com")
	}
	for _, email := range []string{"ada@example.com?x", "/ada@example.com", "ada@example.com"} {
		_, err = a.UpdateUser(ctx, ada.ID, storage.UserChange{Email: &email})
		ok(t, err)
		isAdas(email)
	}
}

// TestExtraIsNoOtherMember: what a site keeps with a user is none of their members,
// whatever it is called.
func TestExtraIsNoOtherMember(t *testing.T) {
	ctx, c := t.Context(), oneServer(t)
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			a := on(t, c, redisadapter.Options{Layout: layout, Prefix: name + ":"})
			extra := map[string]any{"plan": "free", "EMAILVERIFIED": "2001-01-01T00:00:00Z", "emailverified": "2001-01-01T00:00:00Z", "iD": "eve", "name": "Eve"}
			u, err := a.CreateUser(ctx, storage.User{ID: "ada", Name: "Ada", Email: "ada@example.com", Extra: extra})
			ok(t, err)
			stored, err := a.GetUser(ctx, "ada")
			ok(t, err)
			for _, u := range []storage.User{u, stored} {
				if u.ID != "ada" || u.Name != "Ada" || !u.EmailVerified.IsZero() || u.Extra["plan"] != "free" || u.Extra["iD"] != "eve" {
					t.Errorf("the user is %q %q, proven at %v, with %v", u.ID, u.Name, u.EmailVerified, u.Extra)
				}
			}
		})
	}
}

// TestNamesOfMembersAreExact: Auth.js keeps what a provider says of somebody
// beside the members of a user, and to JavaScript "Email" is not "email".
func TestNamesOfMembersAreExact(t *testing.T) {
	ctx, c := t.Context(), oneServer(t)
	a := on(t, c, redisadapter.Options{Layout: redisadapter.AuthJS()})
	for key, text := range map[string]string{
		"user:eve":                   `{"id":"eve","name":"Eve","Email":"ada@example.com","emailverified":"2001-01-01T00:00:00.000Z"}`,
		"user:email:ada@example.com": `eve`,
		"user:mallory":               `{"ID":"mallory"}`,
		"user:session:t":             `{"sessionToken":"t","UserId":"eve","userid":"eve","expires":"2099-01-01T00:00:00.000Z"}`,
		"user:account:acme:1":        `{"provider":"acme","providerAccountId":"1","USERID":"eve"}`,
		"user:token:i:t":             `{"Identifier":"i","token":"t","expires":"2099-01-01T00:00:00.000Z"}`,
	} {
		ok(t, c.Set(ctx, key, text, 0).Err())
	}
	u, err := a.GetUser(ctx, "eve")
	if err != nil || u.Email != "" || !u.EmailVerified.IsZero() || u.Extra["Email"] != "ada@example.com" {
		t.Errorf("the user has the address %q, proven at %v, and %v; error %v", u.Email, u.EmailVerified, u.Extra, err)
	}
	_, err = a.UpdateUser(ctx, "eve", storage.UserChange{Name: new("Mallory")})
	ok(t, err)
	if text := c.Get(ctx, "user:eve").Val(); !strings.Contains(text, `"Email":"ada@example.com"`) || !strings.Contains(text, `"email":null`) {
		t.Errorf("the record became %s", text)
	}
	for what, find := range map[string]func() error{
		"a user by an address under another name": func() error { _, err := a.GetUserByEmail(ctx, "ada@example.com"); return err },
		"a user without an id":                    func() error { _, err := a.GetUser(ctx, "mallory"); return err },
		"a session without a user":                func() error { _, _, err := a.GetSessionAndUser(ctx, "t"); return err },
		"an account without a user":               func() error { _, err := a.GetUserByAccount(ctx, "acme", "1"); return err },
		"a link without an identifier":            func() error { _, err := a.UseVerificationToken(ctx, "i", "t"); return err },
	} {
		notFound(t, what, find())
	}
}

// TestRenewalLengthensTheKeysLife: S-055.
func TestRenewalLengthensTheKeysLife(t *testing.T) {
	c := oneServer(t)
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			a := on(t, c, redisadapter.Options{Layout: layout, Prefix: name + ":"})
			u, err := a.CreateUser(t.Context(), storage.User{})
			ok(t, err)
			ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: time.Now().Add(time.Hour)}))
			later := time.Now().Add(30 * 24 * time.Hour).Truncate(time.Millisecond)
			ok(t, a.UpdateSession(t.Context(), "t", later))
			forward(t, c, 30*24*time.Hour)
			s, _, err := a.GetSessionAndUser(t.Context(), "t")
			if err != nil || !s.Expires.Equal(later) {
				t.Errorf("a renewed session: %v, error %v", s.Expires, err)
			}
			forward(t, c, 25*time.Hour)
			_, err = a.GetSession(t.Context(), "t")
			notFound(t, "a day after its end", err)
		})
	}
}

// TestUsedValuesAndLimitsGoByThemselves: they are the records that nobody lists.
func TestUsedValuesAndLimitsGoByThemselves(t *testing.T) {
	c := oneServer(t)
	a := on(t, c, redisadapter.Options{})
	first, err := a.Use(t.Context(), "state", time.Now().Add(15*time.Minute))
	if err != nil || !first {
		t.Fatalf("first use: %v, error %v", first, err)
	}
	_, err = a.Take(t.Context(), "mail", storage.Rate{Events: 5, Per: 15 * time.Minute})
	ok(t, err)
	ok(t, a.Revoke(t.Context(), "sid:1", time.Now(), time.Now().Add(time.Hour)))
	forward(t, c, 26*time.Hour)
	if left := keysOf(t, c, "*"); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// commands is a client's hook that writes down what is sent.
type commands struct {
	mu    sync.Mutex
	names map[string]int
	bad   []string
}

// keyless are the commands that name no key. scan is sent to each primary by itself.
var keyless = []string{"hello", "client", "ping", "cluster", "command", "multi", "exec", "wait", "script", "readonly", "scan"}

func (c *commands) see(cmd redis.Cmder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	args := cmd.Args()
	name := strings.ToLower(cmd.Name())
	c.names[name]++
	switch name {
	case "eval", "evalsha":
		if args[2] != 1 && args[2] != "1" {
			c.bad = append(c.bad, cmd.String())
		}
	case "get", "hdel", "hgetall", "del", "unlink":
		if name != "hdel" && len(args) > 2 {
			c.bad = append(c.bad, cmd.String())
		}
	default:
		if !slices.Contains(keyless, name) {
			c.bad = append(c.bad, cmd.String())
		}
	}
}

// DialHook implements [redis.Hook].
func (c *commands) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements [redis.Hook].
func (c *commands) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.see(cmd)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (c *commands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			c.see(cmd)
		}
		return next(ctx, cmds)
	}
}

// TestOneKeyACommand: S-059. Towards a cluster no command and no script names two
// keys, those that wait for replicas included; and servers may forget scripts.
// That none is newer than Redis 7.0 is what the servers of all tests say.
func TestOneKeyACommand(t *testing.T) {
	cluster := realservers.NewRedisCluster(t)
	client := clusterClient(t, cluster)
	seen := &commands{names: map[string]int{}}
	client.AddHook(seen)
	client.OnNewNode(func(c *redis.Client) { c.AddHook(seen) })
	open := emptyOn(client, redisadapter.Options{Replicas: 1})
	store := func(t *testing.T) storage.Adapter {
		for _, n := range cluster.Nodes[:3] {
			n.Ask(t, "SCRIPT FLUSH SYNC")
		}
		return open(t)
	}
	storagetest.TestAdapter(t, store)
	latchkeytest.TestUnlink(t, store)
	storagetest.TestStores(t, func(t *testing.T) any { return open(t) })
	if len(seen.bad) > 0 {
		t.Errorf("%d commands are not for one key, such as %s", len(seen.bad), seen.bad[0])
	}
	for _, name := range []string{"get", "evalsha", "eval", "wait", "hdel", "hgetall"} {
		if seen.names[name] == 0 {
			t.Errorf("no %s was seen, of %v", name, seen.names)
		}
	}
	for _, n := range cluster.Nodes[:3] {
		if said := n.Ask(t, "INFO server"); !strings.Contains(said, "redis_version:7.0.") {
			t.Logf("these servers are newer than 7.0, so nothing was shown about commands:\n%.200s", said)
		}
	}
}
