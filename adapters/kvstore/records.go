package kvstore

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// records reads and writes single records. A record is alive, a mark or absent. A mark
// stands in place of a record that was ended: see [Record.IsVoid]. An absent record is a
// Record with a key and nothing else, so that whatever was read can be written over.
type records struct {
	conn Conn
	now  func() time.Time
}

// grace is how long a store keeps a record after its expiry, or after now if that is later.
// A store's clock and its expiry are for tidiness, and decide nothing.
const grace = 24 * time.Hour

// graceOfUsed is the grace of a used value. It is short, since unauthenticated
// clients can make as many of those as they like, and longer than clocks differ.
const graceOfUsed = time.Hour

// never is the Until of a record that does not expire.
var never time.Time

// until returns the Until of the record of a row that expires at a time: a day after the
// expiry, or a day after now if the row has expired.
func (s *records) until(expires time.Time) time.Time { return s.notBefore(expires).Add(grace) }

// notBefore returns the later of a time and now.
func (s *records) notBefore(t time.Time) time.Time {
	if now := s.now(); t.Before(now) {
		return now
	}
	return t
}

// look returns the record under the key, whether it is alive, a mark or absent. It never
// returns ErrNotFound.
func (s *records) look(ctx context.Context, k Key) (Record, error) {
	found, err := s.conn.Get(ctx, k)
	if err != nil || len(found) == 0 {
		return Record{Key: k}, err
	}
	return found[0], nil
}

// find returns the record under the key if it is alive. For a mark or an absent record
// it returns ErrNotFound together with that record.
func (s *records) find(ctx context.Context, k Key) (Record, error) {
	r, err := s.look(ctx, k)
	if err == nil && !r.isAlive() {
		err = storage.ErrNotFound
	}
	return r, err
}

// isAlive reports whether the record is stored and is no mark.
func (r *Record) isAlive() bool { return r.Version != "" && !r.IsVoid() }

// write puts v over seen, a record that was read, and returns the new record. If seen is
// absent, there must be no record. It returns ErrConflict if the stored record has
// another version than seen.
func (s *records) write(ctx context.Context, seen Record, v value, until time.Time) (Record, error) {
	raw, err := encode(v)
	if err != nil {
		return seen, err
	}
	return s.put(ctx, seen, raw, until)
}

// rewrite writes v over seen as write does, and keeps the members of seen's value that v
// has no fields for. seen must be alive.
func (s *records) rewrite(ctx context.Context, seen Record, v value, until time.Time) (Record, error) {
	raw, err := encodeOver(seen.Value, v)
	if err != nil {
		return seen, err
	}
	return s.put(ctx, seen, raw, until)
}

// void puts a mark over seen, which may be absent or a mark itself, and returns the
// mark. The store may forget the mark after a day. void returns ErrConflict if the
// stored record has another version than seen.
func (s *records) void(ctx context.Context, seen Record) (Record, error) {
	return s.put(ctx, seen, []byte(void), s.now().Add(grace))
}

// put writes raw over seen, under a new version, and returns the new record. It returns
// ErrConflict if the stored record has another version than seen.
func (s *records) put(ctx context.Context, seen Record, raw []byte, until time.Time) (Record, error) {
	r := Record{Key: seen.Key, Version: random(9), Value: raw, Until: until}
	return r, s.conn.Put(ctx, r, seen.Version)
}

// create writes v where no record is alive. If one is, create returns it with
// ErrConflict.
func (s *records) create(ctx context.Context, k Key, v value, until time.Time) (Record, error) {
	seen := Record{Key: k}
	for try := 0; ; try++ {
		r, err := s.write(ctx, seen, v, until)
		if !errors.Is(err, storage.ErrConflict) {
			return r, err
		}
		if seen, err = s.look(ctx, k); err != nil {
			return seen, err
		}
		if seen.isAlive() {
			return seen, storage.ErrConflict
		}
		if err := pause(ctx, try); err != nil {
			return seen, err
		}
	}
}

// take ends the record under the key: it puts a mark over the record and returns the
// record. Of any number of concurrent callers exactly one succeeds; the others get
// ErrNotFound, as does a caller that finds no live record.
//
// A record that has ended already is marked anew before take returns ErrNotFound. The
// caller that marked it may not have got an answer, and this caller relies on the mark,
// too.
func (s *records) take(ctx context.Context, k Key) (Record, error) {
	seen, err := s.look(ctx, k)
	if err != nil {
		return seen, err
	}
	return s.takeSeen(ctx, seen, nil)
}

// takeSeen puts a mark over seen, a record that the caller has read, and returns what the
// mark has replaced. If that was a mark too, it returns ErrNotFound, after the write. If
// seen is absent, it returns ErrNotFound without a call to the store. If the stored record
// has another version than seen, takeSeen reads it and tries again.
//
// Before it ends a live record it calls wanted, unless that is nil, and again after each
// new read. If wanted returns an error, takeSeen returns it, and the record stays.
func (s *records) takeSeen(ctx context.Context, seen Record, wanted func(*Record) error) (Record, error) {
	for try := 0; ; try++ {
		var err error
		if seen.Version == "" {
			err = storage.ErrNotFound
		} else if seen.isAlive() && wanted != nil {
			err = wanted(&seen)
		}
		if err != nil {
			return seen, err
		}
		_, err = s.void(ctx, seen)
		if err == nil && !seen.isAlive() {
			err = storage.ErrNotFound
		}
		if !errors.Is(err, storage.ErrConflict) {
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

// remove deletes the record under the key of seen if it has the version of seen. If seen
// has no version, remove deletes the record whatever its version. It returns nil if
// there is no such record, or if the record has another version.
func (s *records) remove(ctx context.Context, seen Record) error {
	_, err := s.conn.Delete(ctx, seen.Key, seen.Version)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrConflict) {
		return nil
	}
	return err
}

var errBusy = errors.New("kvstore: others changed a record each time this call was about to")

// pause waits after a conflict. try is 0 after the first conflict. pause returns at once
// for the first three, and otherwise waits a random time of at most 20 milliseconds, so
// that callers that collide spread out. It returns the error of ctx if that ends, and
// errBusy after 500 conflicts.
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

// orAbsent returns nil for ErrNotFound, and any other error as it is.
func orAbsent(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
