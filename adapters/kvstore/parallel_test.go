package kvstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// distant is a store behind a network, each of whose calls takes a while.
type distant struct {
	*memory
	trip time.Duration
}

func (d *distant) travel(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d.trip):
		return nil
	}
}

func (d *distant) Get(ctx context.Context, keys ...kvstore.Key) ([]kvstore.Record, error) {
	if err := d.travel(ctx); err != nil {
		return nil, err
	}
	return d.memory.Get(ctx, keys...)
}

func (d *distant) Put(ctx context.Context, r kvstore.Record, over string) error {
	if err := d.travel(ctx); err != nil {
		return err
	}
	return d.memory.Put(ctx, r, over)
}

func (d *distant) Delete(ctx context.Context, k kvstore.Key, version string) (kvstore.Record, error) {
	if err := d.travel(ctx); err != nil {
		return kvstore.Record{}, err
	}
	return d.memory.Delete(ctx, k, version)
}

func (d *distant) Disown(ctx context.Context, user string, k kvstore.Key) error {
	if err := d.travel(ctx); err != nil {
		return err
	}
	return d.memory.Disown(ctx, user, k)
}

func (d *distant) Owned(ctx context.Context, user string) ([]kvstore.Key, error) {
	if err := d.travel(ctx); err != nil {
		return nil, err
	}
	return d.memory.Owned(ctx, user)
}

const (
	manySessions = 5000
	aCall        = 10 * time.Second // the default of Limits.StoreTimeout
)

// withSessions is the store of somebody who has so many.
func withSessions(t *testing.T, n int) *memory {
	t.Helper()
	m := newMemory()
	s := kvstore.New(m, kvstore.Options{})
	_ = accountOf(t, s, "ada")
	openAll(t, s, "ada", n)
	return m
}

// anyAlive looks for sessions past the list that names them.
func anyAlive(m *memory) (n int) {
	for k, r := range m.records {
		if k.Kind == kvstore.KindSession && !r.IsVoid() {
			n++
		}
	}
	return n
}

// TestThousandsOfSessions are ended within the time of one call.
func TestThousandsOfSessions(t *testing.T) {
	many := withSessions(t, manySessions)
	for name, end := range map[string]func(context.Context, *kvstore.Store) error{
		"signed out everywhere": func(ctx context.Context, s *kvstore.Store) error {
			n, err := s.DeleteSessions(ctx, "ada", "")
			if err == nil && n != manySessions {
				t.Errorf("%d sessions ended", n)
			}
			return err
		},
		"deleted": func(ctx context.Context, s *kvstore.Store) error {
			_, err := s.DeleteUser(ctx, "ada")
			return err
		},
	} {
		t.Run("of somebody who is "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &distant{many.clone(), 5 * time.Millisecond}
				ctx, cancel := context.WithTimeout(t.Context(), aCall)
				defer cancel()
				if err := end(ctx, kvstore.New(c, kvstore.Options{})); err != nil {
					t.Error(err)
				}
				if n := anyAlive(c.memory); n > 0 {
					t.Errorf("%d sessions live on", n)
				}
				if left := len(c.owned["ada"]); name == "deleted" && left > 0 || left > 1 {
					t.Errorf("%d entries are left", left)
				}
			})
		})
	}
	t.Run("at a store that is far too slow, by trying again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			const sessions = 1000
			c := &distant{withSessions(t, sessions), 200 * time.Millisecond}
			s := kvstore.New(c, kvstore.Options{})
			for try, before := 1, sessions; ; try++ {
				ctx, cancel := context.WithTimeout(t.Context(), aCall)
				_, err := s.DeleteSessions(ctx, "ada", "")
				cancel()
				now := anyAlive(c.memory)
				if err == nil && now == 0 {
					break
				}
				if !errors.Is(err, context.DeadlineExceeded) || before-now < 150 {
					t.Fatalf("try %d ended %d of %d sessions: %v", try, before-now, before, err)
				}
				before = now
			}
		})
	})
}

// TestPanicsReachTheCaller: whoever calls an adapter recovers them, which cannot
// be done from another goroutine.
func TestPanicsReachTheCaller(t *testing.T) {
	c := &watched{memory: newMemory()}
	s := kvstore.New(c, kvstore.Options{})
	openAll(t, s, "ada", 50)
	c.before = func(kvstore.Record) error { panic("a bug of the driver") }
	defer func() {
		if p := recover(); p != "a bug of the driver" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, err := s.DeleteSessions(t.Context(), "ada", "")
	t.Errorf("it returns: %v", err)
}

// TestOneOfManySessionsThatStays keeps none of the others.
func TestOneOfManySessionsThatStays(t *testing.T) {
	c := &watched{memory: newMemory()}
	s := kvstore.New(c, kvstore.Options{})
	openAll(t, s, "ada", 150)
	row, err := s.GetSession(t.Context(), "ada77")
	if err != nil {
		t.Fatal(err)
	}
	stays := hashed(row.Token)
	c.before = func(r kvstore.Record) error {
		if strings.HasPrefix(stays, r.Name) {
			return errUnreachable
		}
		return nil
	}
	if n, err := s.DeleteSessions(t.Context(), "ada", "1"); n != 148 || !errors.Is(err, errUnreachable) {
		t.Errorf("%d sessions ended, error %v", n, err)
	}
	list, err := s.ListSessions(t.Context(), "ada")
	if err != nil || len(list) != 2 {
		t.Errorf("left are %v, error %v", list, err)
	}
	if _, err := s.DeleteUser(t.Context(), "ada"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("nobody is deleted: %v", err)
	}
}
