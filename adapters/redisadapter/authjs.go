package redisadapter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey"
)

// authJS keeps users, accounts, sessions, links and passkeys as the adapters of
// Auth.js do. Their keys have no slots in common, and each change touches
// several of them: it is decided here, and written by one script if nothing that
// it was decided by has changed meanwhile.
type authJS struct {
	*conn
	roles       // what Auth.js has no keys for
	isUnstorage bool
}

// roles are kept in the layout of this package.
type roles interface {
	latchkey.SignUpAdapter
	latchkey.RevocationStore
	latchkey.ReturningLimiter
	latchkey.ReplayStore
}

// The parts of keys before the id. Their adapters allow others by options that
// nobody is known to set; all are below the prefix.
const (
	ofUser        = "user:"
	ofEmail       = "user:email:"              // to the id of a user
	ofAccount     = "user:account:"            // and provider:id
	lastAccountOf = "user:account:by-user-id:" // to the key of the account that was linked last
	ofSession     = "user:session:"
	lastSessionOf = "user:session:by-user-id:"
	ofLink        = "user:token:" // and identifier:token
	ofPasskey     = "authenticator:"
	passkeysOf    = "authenticator:by-user-id:" // to a list of credential ids
	belongingsOf  = "user:owned:by-user-id:"    // ours: the keys of all accounts and sessions
)

// mostTries bounds how often a change is decided anew: each time somebody else's
// has succeeded.
const mostTries = 1000

// at is a key. What unstorage does to keys can make two of them one, so whoever
// finds a record compares what it says it is.
func (a *authJS) at(part, id string) string {
	if a.isUnstorage {
		return a.prefix + unstorageKey(part+id)
	}
	return a.prefix + part + id
}

// unstorageKey is a key as unstorage writes it: slashes are colons, several
// colons one, and what follows a question mark is cut off.
func unstorageKey(key string) string {
	key, _, _ = strings.Cut(key, "?")
	parts := strings.FieldsFunc(key, func(c rune) bool { return c == '/' || c == '\\' || c == ':' })
	return strings.Join(parts, ":")
}

// plan is a change, and what it was decided by.
type plan struct {
	Want   [][2]any    `json:"want,omitempty"` // key and text, or false if nothing may be there
	Owns   [][2]any    `json:"owns,omitempty"` // set and all of its members
	Set    [][3]any    `json:"set,omitempty"`  // key, text, life in milliseconds or 0
	Delete []string    `json:"delete,omitempty"`
	Add    [][2]string `json:"add,omitempty"` // set and member
	Remove [][2]string `json:"remove,omitempty"`
}

// apply carries a plan out, whole or not at all. It says whether it did.
var apply = redis.NewScript(`
local plan = cjson.decode(ARGV[1])
for _, w in ipairs(plan.want or {}) do
	if redis.call('GET', w[1]) ~= w[2] then return 0 end
end
for _, o in ipairs(plan.owns or {}) do
	if redis.call('SCARD', o[1]) ~= #o[2] then return 0 end
	for _, m in ipairs(o[2]) do
		if redis.call('SISMEMBER', o[1], m) == 0 then return 0 end
	end
end
for _, s in ipairs(plan.set or {}) do
	if s[3] == 0 then redis.call('SET', s[1], s[2]) else redis.call('SET', s[1], s[2], 'PX', s[3]) end
end
for _, k in ipairs(plan.delete or {}) do redis.call('DEL', k) end
for _, m in ipairs(plan.add or {}) do redis.call('SADD', m[1], m[2]) end
for _, m in ipairs(plan.remove or {}) do redis.call('SREM', m[1], m[2]) end
return 1
`)

func (p *plan) want(key string, text *string) {
	if text == nil {
		p.Want = append(p.Want, [2]any{key, false})
		return
	}
	p.Want = append(p.Want, [2]any{key, *text})
}

func (p *plan) set(key, text string) { p.Set = append(p.Set, [3]any{key, text, 0}) }

// setUntil lets what has expired go a day later, as Auth.js never does.
func (p *plan) setUntil(key, text string, expires time.Time) {
	left := max(time.Until(expires), 0) + 24*time.Hour
	p.Set = append(p.Set, [3]any{key, text, left.Milliseconds()})
}

// errStale: what a change was decided by is no longer so.
var errStale = errors.New("redisadapter: others changed a record each time it was about to be written")

// commit carries out a plan; errStale: decide anew.
func (a *authJS) commit(ctx context.Context, p *plan) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	done, err := a.run(ctx, len(p.Delete) > 0, apply, a.prefix, text).Int()
	switch {
	case err != nil:
		return fault("write", err)
	case done == 0:
		return errStale
	}
	return nil
}

// change decides and commits until one of the two is final.
func (a *authJS) change(ctx context.Context, decide func(*plan) error) error {
	for range mostTries {
		var p plan
		if err := decide(&p); err != nil {
			return err
		}
		if err := a.commit(ctx, &p); !errors.Is(err, errStale) {
			return err
		}
	}
	return errStale
}

// end is a change that ends what is under a key. One that finds nothing may be
// another try of one that replicas have not heard of, so it waits for them, too.
func (a *authJS) end(ctx context.Context, key string, decide func(*plan) error) error {
	err := a.change(ctx, decide)
	if errors.Is(err, latchkey.ErrNotFound) {
		if missing := a.await(ctx, key); missing != nil {
			return missing
		}
	}
	return err
}

// await waits until replicas have all that this server has written, by a write
// to a key that has nothing.
func (a *authJS) await(ctx context.Context, key string) error {
	if a.replicas == 0 {
		return nil
	}
	_, err := a.run(ctx, true, remove, key, rand.Text(), "1").Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return fault("delete", err)
}

// texts are what is under the keys; nil where nothing is.
func (a *authJS) texts(ctx context.Context, keys ...string) ([]*string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	answers, err := bounded(ctx, a.conn, func() ([]any, error) { return a.client.MGet(ctx, keys...).Result() })
	if err != nil {
		return nil, fault("MGET", err)
	}
	texts := make([]*string, len(answers))
	for i, answer := range answers {
		if text, ok := answer.(string); ok {
			texts[i] = &text
		}
	}
	return texts, nil
}

func (a *authJS) text(ctx context.Context, key string) (*string, error) {
	texts, err := a.texts(ctx, key)
	if err != nil {
		return nil, err
	}
	return texts[0], nil
}

// owned are the keys in the set of what a user has.
func (a *authJS) owned(ctx context.Context, userID string) ([]string, error) {
	keys, err := bounded(ctx, a.conn, func() ([]string, error) {
		return a.client.SMembers(ctx, a.at(belongingsOf, userID)).Result()
	})
	return keys, fault("SMEMBERS", err)
}

// reference is a key or id as their clients write it: plain, or as JSON.
func reference(text *string) string {
	if text == nil {
		return ""
	}
	var quoted string
	if json.Unmarshal([]byte(*text), &quoted) == nil {
		return quoted
	}
	return *text
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
