package redisadapter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/storage"
)

// The parts of keys before the id. The adapters of Auth.js have options for other
// parts, which no site is known to set; all are below the prefix.
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
	ownedBy       = "user:owned:by-user-id:"    // ours: the keys of all accounts and sessions
	awaited       = "latchkey:await:"           // ours, and random: a write of await, which nothing reads
)

// keyspace reads the keys of Auth.js, and changes several of them at once.
type keyspace struct {
	conn        *conn
	isUnstorage bool
}

// at returns the key of an id: the prefix, the part and the id. unstorage shortens keys,
// so two ids may have the same key, and a caller that finds a record compares the id.
func (s *keyspace) at(part, id string) string {
	if s.isUnstorage {
		return s.conn.prefix + unstorageKey(part+id)
	}
	return s.conn.prefix + part + id
}

// unstorageKey returns a key as unstorage writes it. Slashes and backslashes become
// colons, several colons become one, and colons at both ends are dropped. Everything
// after a question mark is cut off.
func unstorageKey(key string) string {
	key, _, _ = strings.Cut(key, "?")
	parts := strings.FieldsFunc(key, func(c rune) bool { return c == '/' || c == '\\' || c == ':' })
	return strings.Join(parts, ":")
}

// texts returns the values of the keys, in their order. It returns nil for a key
// without a value.
func (s *keyspace) texts(ctx context.Context, keys ...string) ([]*string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	answers, err := bounded(ctx, s.conn, func() ([]any, error) { return s.conn.client.MGet(ctx, keys...).Result() })
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

// text returns the value of the key, or nil if it has none.
func (s *keyspace) text(ctx context.Context, key string) (*string, error) {
	texts, err := s.texts(ctx, key)
	if err != nil {
		return nil, err
	}
	return texts[0], nil
}

// mostTries bounds how often a change is decided anew: each time another call has
// changed what it was decided by.
const mostTries = 1000

// errStale reports that a key has changed since a plan was decided by its value.
var errStale = errors.New("redisadapter: others changed a record each time it was about to be written")

// commit carries out a plan, unless it is empty. It returns errStale, and changes nothing,
// if what the plan was decided by has changed. If the plan deletes keys, commit waits for
// [Options].Replicas. It fails if fewer have the change, although the server has made it.
func (s *keyspace) commit(ctx context.Context, p *plan) error {
	keys := p.keys()
	if len(keys) == 0 {
		return nil
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	done, err := s.conn.run(ctx, len(p.Delete) > 0, apply, keys, text).Int()
	switch {
	case err != nil:
		return fault("write", err)
	case done == 0:
		return errStale
	}
	return nil
}

// ignoreStale returns nil for errStale, and any other error as it is.
func ignoreStale(err error) error {
	if errors.Is(err, errStale) {
		return nil
	}
	return err
}

// change calls decide with an empty plan and commits the plan. If other calls have
// changed meanwhile what the plan was decided by, it calls decide again with another
// empty plan. It returns an error of decide as it is, and errStale after mostTries
// tries.
func (s *keyspace) change(ctx context.Context, decide func(*plan) error) error {
	for range mostTries {
		var p plan
		if err := decide(&p); err != nil {
			return err
		}
		if err := s.commit(ctx, &p); !errors.Is(err, errStale) {
			return err
		}
	}
	return errStale
}

// end calls change for a plan that ends a record. If decide returns ErrNotFound, an earlier
// call may have ended it before all replicas had that. So end waits for replicas before it
// returns ErrNotFound, and returns another error if too few of them have it.
func (s *keyspace) end(ctx context.Context, decide func(*plan) error) error {
	err := s.change(ctx, decide)
	if errors.Is(err, storage.ErrNotFound) {
		if missing := s.await(ctx); missing != nil {
			return missing
		}
	}
	return err
}

// await waits until as many replicas as [Options].Replicas says have all that the server
// has written so far. It returns an error if they do not. Redis waits for the writes of a
// connection, so await makes one, under a key that no other call has.
func (s *keyspace) await(ctx context.Context) error {
	if s.conn.replicas == 0 {
		return nil
	}
	_, err := s.conn.run(ctx, true, remove, []string{s.at(awaited, rand.Text())}, "", "1").Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return fault("delete", err)
}

// withPrefix returns those of the keys that begin with prefix, sorted.
func withPrefix(keys []string, prefix string) []string {
	var some []string
	for _, key := range keys {
		if strings.HasPrefix(key, prefix) {
			some = append(some, key)
		}
	}
	slices.Sort(some)
	return some
}

// appendNew appends to keys those of more that keys does not have yet.
func appendNew(keys, more []string) []string {
	for _, key := range more {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// reference returns the key or id in a text, which the clients of Auth.js write
// plain or as JSON. It returns "" for nil.
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

// newUUID returns a random UUID of version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
