package kvstore

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// records reads and writes single records. An absent one is a Record with a key and
// nothing else, so that whatever was read can be written over.
type records struct {
	conn Conn
	now  func() time.Time
}

// grace is how much longer than its row a record lives, and how long at least:
// a store's clock and its expiry are for tidiness, and decide nothing.
const grace = 24 * time.Hour

// graceOfUsed is the grace of a used value. It is short, since unauthenticated
// clients can make as many of those as they like, and longer than clocks differ.
const graceOfUsed = time.Hour

// never is the Until of a record that does not expire.
var never time.Time

// until returns the Until of a row that expires at a time.
func (s *records) until(expires time.Time) time.Time { return s.notBefore(expires).Add(grace) }

// notBefore returns the later of a time and now.
func (s *records) notBefore(t time.Time) time.Time {
	if now := s.now(); t.Before(now) {
		return now
	}
	return t
}

// look returns the record under the key, whether it is alive, a mark or absent.
func (s *records) look(ctx context.Context, k Key) (Record, error) {
	found, err := s.conn.Get(ctx, k)
	if err != nil || len(found) == 0 {
		return Record{Key: k}, err
	}
	return found[0], nil
}

// find returns the record under the key if it is alive, and ErrNotFound otherwise.
func (s *records) find(ctx context.Context, k Key) (Record, error) {
	r, err := s.look(ctx, k)
	if err == nil && !r.isAlive() {
		err = storage.ErrNotFound
	}
	return r, err
}

func (r *Record) isAlive() bool { return r.Version != "" && !r.IsVoid() }

// write puts v over the record that was read. It returns ErrConflict if that record
// is no longer there.
func (s *records) write(ctx context.Context, seen Record, v value, until time.Time) (Record, error) {
	raw, err := encode(v)
	if err != nil {
		return seen, err
	}
	return s.put(ctx, seen, raw, until)
}

// rewrite writes v over the record that was read, as write does. It keeps the
// members that v does not know.
func (s *records) rewrite(ctx context.Context, seen Record, v value, until time.Time) (Record, error) {
	raw, err := encodeOver(seen.Value, v)
	if err != nil {
		return seen, err
	}
	return s.put(ctx, seen, raw, until)
}

// void puts a mark over the record that was read, and returns the mark. It
// returns ErrConflict if that record is no longer there.
func (s *records) void(ctx context.Context, seen Record) (Record, error) {
	return s.put(ctx, seen, []byte(void), s.now().Add(grace))
}

// put writes raw over the record that was read, under a new version. It returns
// the new record, and ErrConflict if the one that was read is no longer there.
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

// take ends the record under the key and returns what it was. Of any number of
// concurrent callers exactly one succeeds; the others get ErrNotFound.
//
// A record that has ended already is marked anew before take returns ErrNotFound.
// The caller that marked it may not have got an answer, and this caller relies on
// the mark, too.
func (s *records) take(ctx context.Context, k Key) (Record, error) {
	seen, err := s.look(ctx, k)
	if err != nil {
		return seen, err
	}
	return s.takeSeen(ctx, seen, nil)
}

// takeSeen ends a record that was read before, as take does. It calls wanted,
// which may be nil, for each live record that it is about to end. An error of
// wanted keeps the record, and is returned.
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

// remove deletes the record that has the version that was read. It is no error if
// another caller has deleted or changed the record.
func (s *records) remove(ctx context.Context, seen Record) error {
	_, err := s.conn.Delete(ctx, seen.Key, seen.Version)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrConflict) {
		return nil
	}
	return err
}

var errBusy = errors.New("kvstore: others changed a record each time this call was about to")

// pause waits after a conflict. The first few tries follow at once; later ones wait
// a random time, so that callers that collide spread out. It returns errBusy after
// 500 tries.
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
