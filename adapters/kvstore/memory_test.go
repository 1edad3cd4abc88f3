package kvstore_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// memory is the plainest Conn there is. It is strict with its caller.
type memory struct {
	mu      sync.Mutex
	records map[kvstore.Key]kvstore.Record
	owned   map[string]map[kvstore.Key]time.Time // until when each entry is kept
}

func newMemory() *memory {
	return &memory{records: map[kvstore.Key]kvstore.Record{}, owned: map[string]map[kvstore.Key]time.Time{}}
}

const nameBytes = "-_=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

var name = regexp.MustCompile(`^[-_=A-Za-z0-9]{1,64}$`)

func (m *memory) begin(ctx context.Context, keys ...kvstore.Key) error {
	for i, k := range keys {
		if len(k.Name) > 64 || strings.Trim(k.Name, nameBytes) != "" || k.Kind == "" || slices.Contains(keys[:i], k) {
			panic(fmt.Sprintf("kvstore asks for %q", keys))
		}
	}
	return ctx.Err()
}

func (m *memory) Get(ctx context.Context, keys ...kvstore.Key) (found []kvstore.Record, err error) {
	if err := m.begin(ctx, keys...); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		if r, ok := m.records[k]; ok {
			found = append(found, r)
		}
	}
	slices.Reverse(found) // in any order
	return found, nil
}

func (m *memory) Put(ctx context.Context, r kvstore.Record, over string) error {
	if err := m.begin(ctx, r.Key); err != nil {
		return err
	}
	if r.Version == "" || !json.Valid(r.Value) {
		panic("kvstore writes what is no record")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch there := m.records[r.Key].Version; there {
	case r.Version:
		return nil
	case over:
		r.Value = slices.Clone(r.Value)
		m.records[r.Key] = r
		return nil
	}
	return storage.ErrConflict
}

func (m *memory) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	if err := m.begin(ctx, k); err != nil {
		return kvstore.Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, there := m.records[k]
	switch {
	case !there:
		return r, storage.ErrNotFound
	case version != "" && version != r.Version:
		return r, storage.ErrConflict
	}
	delete(m.records, k)
	return r, nil
}

func (m *memory) Own(ctx context.Context, user string, k kvstore.Key, until time.Time) error {
	if err := m.begin(ctx, k, kvstore.Key{Kind: kvstore.KindUser, Name: user}); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owned[user] == nil {
		m.owned[user] = map[kvstore.Key]time.Time{}
	}
	if was, there := m.owned[user][k]; !there || !was.IsZero() && (until.IsZero() || until.After(was)) {
		m.owned[user][k] = until
	}
	return nil
}

func (m *memory) Disown(ctx context.Context, user string, k kvstore.Key) error {
	if err := m.begin(ctx, k, kvstore.Key{Kind: kvstore.KindUser, Name: user}); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.owned[user], k)
	return nil
}

func (m *memory) Owned(ctx context.Context, user string) ([]kvstore.Key, error) {
	if err := m.begin(ctx, kvstore.Key{Kind: kvstore.KindUser, Name: user}); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Keys(m.owned[user]), func(a, b kvstore.Key) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	}), nil
}

// Walk hands over two records at a time.
func (m *memory) Walk(ctx context.Context, kind kvstore.Kind, f func([]kvstore.Record) error) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	keys := slices.Collect(maps.Keys(m.records))
	m.mu.Unlock()
	for some := range slices.Chunk(slices.DeleteFunc(keys, func(k kvstore.Key) bool { return k.Kind != kind }), 2) {
		page, err := m.Get(ctx, some...)
		if err == nil {
			err = f(page)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// twice does everything twice, as a client does whose first answer was lost. No other caller
// writes between the two: then a session may end without a caller that is told so, and an
// event may count again, to the safe side, and the suite wants exact numbers.
type twice struct {
	kvstore.Conn
	writes *sync.Mutex
}

func (c twice) Get(ctx context.Context, keys ...kvstore.Key) ([]kvstore.Record, error) {
	_, _ = c.Conn.Get(ctx, keys...)
	return c.Conn.Get(ctx, keys...)
}

func (c twice) Put(ctx context.Context, r kvstore.Record, over string) error {
	c.writes.Lock()
	defer c.writes.Unlock()
	_ = c.Conn.Put(ctx, r, over)
	return c.Conn.Put(ctx, r, over)
}

func (c twice) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	c.writes.Lock()
	defer c.writes.Unlock()
	_, _ = c.Conn.Delete(ctx, k, version)
	return c.Conn.Delete(ctx, k, version)
}

func (c twice) Own(ctx context.Context, user string, k kvstore.Key, until time.Time) error {
	_ = c.Conn.Own(ctx, user, k, until)
	return c.Conn.Own(ctx, user, k, until)
}

func (c twice) Disown(ctx context.Context, user string, k kvstore.Key) error {
	_ = c.Conn.Disown(ctx, user, k)
	return c.Conn.Disown(ctx, user, k)
}

func (c twice) Owned(ctx context.Context, user string) ([]kvstore.Key, error) {
	_, _ = c.Conn.Owned(ctx, user)
	return c.Conn.Owned(ctx, user)
}

// Walk hands over each page twice.
func (c twice) Walk(ctx context.Context, kind kvstore.Kind, f func([]kvstore.Record) error) error {
	return c.Conn.(kvstore.WalkConn).Walk(ctx, kind, func(page []kvstore.Record) error {
		if err := f(page); err != nil {
			return err
		}
		return f(page)
	})
}

// following reads the user together with what is theirs.
type following struct{ *memory }

func (c following) GetWithUser(ctx context.Context, k kvstore.Key) ([]kvstore.Record, error) {
	found, err := c.Get(ctx, k)
	if err != nil || len(found) == 0 {
		return found, err
	}
	var of struct{ User string }
	if err := json.Unmarshal(found[0].Value, &of); err != nil || !name.MatchString(of.User) {
		return found, err
	}
	users, err := c.Get(ctx, kvstore.Key{Kind: kvstore.KindUser, Name: of.User})
	return append(users, found...), err
}
