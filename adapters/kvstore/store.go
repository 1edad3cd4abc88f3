package kvstore

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// Options says how a [Store] behaves. The zero value is the usual.
type Options struct {
	Now func() time.Time // nil: time.Now
}

// Store is an adapter on a [Conn]. Make one with [New]. It is safe for concurrent
// use, and keeps nothing itself: any number of them, in any number of processes,
// work on one store.
type Store struct {
	records
}

// New returns an adapter on a store. It is also a session store, a revocation
// store, a limiter and a store of used values, each of which needs no other.
func New(c Conn, o Options) *Store {
	s := &Store{records{conn: c, now: o.Now}}
	if s.now == nil {
		s.now = time.Now
	}
	s.follower, _ = c.(Follower)
	s.limits, _ = c.(LimitConn)
	return s
}

var (
	_ latchkey.Adapter                  = (*Store)(nil)
	_ latchkey.SessionAdapter           = (*Store)(nil)
	_ latchkey.SessionListAdapter       = (*Store)(nil)
	_ latchkey.SessionStore             = (*Store)(nil)
	_ latchkey.VerificationTokenAdapter = (*Store)(nil)
	_ latchkey.AccountAdapter           = (*Store)(nil)
	_ latchkey.UserDeletionAdapter      = (*Store)(nil)
	_ latchkey.AuthenticatorAdapter     = (*Store)(nil)
	_ latchkey.SignUpAdapter            = (*Store)(nil)
	_ latchkey.RevocationStore          = (*Store)(nil)
	_ latchkey.ReturningLimiter         = (*Store)(nil)
	_ latchkey.ReplayStore              = (*Store)(nil)
)

// records reads and writes single records. One that is absent is a Record with a
// key and nothing else, so that whatever was seen can be written over.
type records struct {
	conn     Conn
	follower Follower  // nil: two round trips
	limits   LimitConn // nil: read, compare, put
	now      func() time.Time
}

// grace is how much longer than its row a record lives, and how long at least:
// a store's clock and its expiry are for tidiness, and decide nothing.
const grace = 24 * time.Hour

// graceOfUsed is the grace of a used value. It is short, since strangers can make
// as many of those as they like, and longer than clocks differ.
const graceOfUsed = time.Hour

// after is the Until of a row that expires then.
func (s *records) after(expires time.Time) time.Time { return s.notBefore(expires).Add(grace) }

// notBefore is the later of a time and now.
func (s *records) notBefore(t time.Time) time.Time {
	if now := s.now(); t.Before(now) {
		return now
	}
	return t
}

// never is the Until of what does not expire.
var never time.Time

// look returns what is under the key, be it void or absent.
func (s *records) look(ctx context.Context, k Key) (Record, error) {
	found, err := s.conn.Get(ctx, k)
	if err != nil || len(found) == 0 {
		return Record{Key: k}, err
	}
	return found[0], nil
}

// find is look for what is alive; all else is ErrNotFound.
func (s *records) find(ctx context.Context, k Key) (Record, error) {
	r, err := s.look(ctx, k)
	if err == nil && !r.isAlive() {
		err = latchkey.ErrNotFound
	}
	return r, err
}

func (r *Record) isAlive() bool { return r.Version != "" && !r.IsVoid() }

// write puts v over what was seen; ErrConflict: that is no longer there.
func (s *records) write(ctx context.Context, seen Record, v value, until time.Time) (Record, error) {
	raw, err := encode(v)
	if err != nil {
		return seen, err
	}
	return s.put(ctx, seen, raw, until)
}

// rewrite is write of a change to what was seen.
func (s *records) rewrite(ctx context.Context, seen Record, v value, until time.Time) (Record, error) {
	raw, err := encodeOver(seen.Value, v)
	if err != nil {
		return seen, err
	}
	return s.put(ctx, seen, raw, until)
}

// void ends what was seen.
func (s *records) void(ctx context.Context, seen Record) (Record, error) {
	return s.put(ctx, seen, []byte(void), s.now().Add(grace))
}

func (s *records) put(ctx context.Context, seen Record, raw []byte, until time.Time) (Record, error) {
	r := Record{Key: seen.Key, Version: random(9), Value: raw, Until: until}
	return r, s.conn.Put(ctx, r, seen.Version)
}

// create writes v where nothing is alive. ErrConflict comes with what is.
func (s *records) create(ctx context.Context, k Key, v value, until time.Time) (Record, error) {
	seen := Record{Key: k}
	for try := 0; ; try++ {
		r, err := s.write(ctx, seen, v, until)
		if !errors.Is(err, latchkey.ErrConflict) {
			return r, err
		}
		if seen, err = s.look(ctx, k); err != nil {
			return seen, err
		}
		if seen.isAlive() {
			return seen, latchkey.ErrConflict
		}
		if err := pause(ctx, try); err != nil {
			return seen, err
		}
	}
}

// take ends what is alive under the key and returns what it was: of any number
// of callers one does. wanted may refuse it.
//
// What was ended already is marked anew before it is ErrNotFound: whoever marked
// it may not have heard that it is safe, and this caller, too, relies on it.
func (s *records) take(ctx context.Context, k Key, wanted func(*Record) error) (Record, error) {
	seen, err := s.look(ctx, k)
	if err != nil {
		return seen, err
	}
	return s.takeSeen(ctx, seen, wanted)
}

// takeSeen is take of what was looked at before.
func (s *records) takeSeen(ctx context.Context, seen Record, wanted func(*Record) error) (Record, error) {
	for try := 0; ; try++ {
		var err error
		if seen.Version == "" {
			err = latchkey.ErrNotFound
		} else if seen.isAlive() && wanted != nil {
			err = wanted(&seen)
		}
		if err != nil {
			return seen, err
		}
		_, err = s.void(ctx, seen)
		if err == nil && !seen.isAlive() {
			err = latchkey.ErrNotFound
		}
		if !errors.Is(err, latchkey.ErrConflict) {
			return seen, err
		}
		if err := pause(ctx, try); err != nil {
			return seen, err
		}
		if seen, err = s.look(ctx, seen.Key); err != nil {
			return seen, err
		}
	}
}

// remove deletes a record that has the version; others may have done so, or have
// written another.
func (s *records) remove(ctx context.Context, seen Record) error {
	_, err := s.conn.Delete(ctx, seen.Key, seen.Version)
	if errors.Is(err, latchkey.ErrNotFound) || errors.Is(err, latchkey.ErrConflict) {
		return nil
	}
	return err
}

var errBusy = errors.New("kvstore: others changed a record each time this call was about to")

// pause is called after a conflict. The first few tries follow at once; then
// callers who meet spread out.
func pause(ctx context.Context, try int) error {
	if try < 3 {
		return ctx.Err()
	}
	if try > 500 {
		return errBusy
	}
	n, err := rand.Int(rand.Reader, big.NewInt(int64(min(try, 20))*int64(time.Millisecond)))
	if err != nil {
		return err
	}
	t := time.NewTimer(time.Duration(n.Int64()))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
