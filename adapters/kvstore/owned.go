package kvstore

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// ownedRecords keeps the records that belong to users: accounts, passkeys, sessions.
//
// Each of them has an entry in a list of its user's. A record that is alive never lacks
// its entry, whatever else happens at the same time and wherever a process ends. The
// entry is written before the record. It has a part of its own that only this record
// has, even if another was under the same key before. It is removed when that record can
// no longer be written: after the record was ended, or, if the record does not exist,
// after its key got a mark. The store keeps an entry at least as long as its record, and
// then forgets it by itself. If a record is to live longer, its entry is told first.
type ownedRecords struct {
	records *records
}

// owned has the members that all records of this kind share.
type owned struct {
	owner
	Entry string `json:"entry"` // the entry's own part
}

// entryOf returns the entry of a record in its user's list. part is the entry's
// own part.
func entryOf(k Key, part string) Key { return Key{k.Kind, k.Name + "=" + part} }

// splitEntry returns the key of the record that an entry is of, and the entry's part. It
// returns entry and "" if the name is not one that entryOf made.
func splitEntry(entry Key) (k Key, part string) {
	i := strings.LastIndexByte(entry.Name, '=')
	if i <= 0 {
		return entry, ""
	}
	return Key{entry.Kind, entry.Name[:i]}, entry.Name[i+1:]
}

// create adds an entry to the user's list and then writes a record over seen, which may
// be absent. The function with gets the entry's part, and returns the value of the
// record, which must hold that part. create does not ask whether the user exists. If the
// stored record has another version than seen, create reads it and begins again, with a
// new part and a new call of the function.
//
// If a record is alive under the key, create returns ErrConflict, unless isFree reports
// that the record may be replaced.
func (s *ownedRecords) create(ctx context.Context, user string, seen Record, with func(part string) value, until time.Time, isFree func(context.Context, *Record) (bool, error)) error {
	for try := 0; ; try++ {
		part := random(6)
		entry := entryOf(seen.Key, part)
		if err := s.records.conn.Own(ctx, nameOf(user), entry, until); err != nil {
			return err
		}
		_, err := s.records.write(ctx, seen, with(part), until)
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if seen, err = s.records.look(ctx, seen.Key); err != nil {
			return err // an entry that is left over does no harm
		}
		if of, mine := isOf(&seen, user); mine && of.Entry == part {
			return nil // it was written, the answer was lost, and another caller has renewed it since
		}
		if err := s.records.conn.Disown(ctx, nameOf(user), entry); err != nil {
			return err
		}
		if seen, err = s.clear(ctx, seen, isFree); err != nil {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// renew writes v over seen, a record of a user, and has the store keep both the record
// and its entry until a later time. It writes the entry first. It keeps the members of
// seen that v does not know. It returns ErrConflict if another caller has written the
// record since seen was read.
func (s *ownedRecords) renew(ctx context.Context, seen Record, of owned, v value, until time.Time) error {
	if err := s.records.conn.Own(ctx, nameOf(of.User), entryOf(seen.Key, of.Entry), until); err != nil {
		return err
	}
	_, err := s.records.rewrite(ctx, seen, v, until)
	return err
}

// clear prepares the next try of create. It gets the record that is under the key now,
// and returns the record that the try shall write over. If the record is alive, clear
// asks isFree. If isFree allows it, clear replaces the record by a mark; otherwise it
// returns ErrConflict. If another caller changes the record meanwhile, clear returns an
// absent record, so that the next try reads again.
//
// A caller that prunes the entry of the new record marks the key anew. If that caller
// and create have read the same mark, only one of them can write over it.
func (s *ownedRecords) clear(ctx context.Context, seen Record, isFree func(context.Context, *Record) (bool, error)) (Record, error) {
	if !seen.isAlive() {
		return seen, nil
	}
	free, err := isFree(ctx, &seen)
	if err == nil && !free {
		err = storage.ErrConflict
	}
	if err != nil {
		return seen, err
	}
	mark, err := s.records.void(ctx, seen)
	if errors.Is(err, storage.ErrConflict) {
		return Record{Key: seen.Key}, nil // another caller was faster: the next try reads what it wrote
	}
	return mark, err
}

// take ends the record under the key and returns the record. Of any number of concurrent
// callers exactly one succeeds; the others get ErrNotFound, as does a caller that finds
// no live record. take also removes the record's entry from the user's list, and ignores
// errors of that.
func (s *ownedRecords) take(ctx context.Context, k Key) (Record, error) {
	seen, err := s.records.look(ctx, k)
	if err != nil {
		return seen, err
	}
	return s.takeSeen(ctx, seen, nil)
}

// takeSeen puts a mark over seen, a record that was read before, and removes its entry. For a
// mark, which it writes anew, and an absent record it returns ErrNotFound. If the record has
// changed since, it reads it and tries again. Before it ends a live record it calls wanted,
// unless that is nil. If wanted returns an error, takeSeen returns it, and the record stays.
func (s *ownedRecords) takeSeen(ctx context.Context, seen Record, wanted func(*Record) error) (Record, error) {
	r, err := s.records.takeSeen(ctx, seen, wanted)
	if err != nil {
		return r, err
	}
	if of, err := decode[owned](&r); err == nil {
		s.disown(ctx, r.Key, of)
	}
	return r, nil
}

// disown removes the entry of a record that has ended. It ignores errors: an entry that
// stays does no harm.
func (s *ownedRecords) disown(ctx context.Context, k Key, of owned) {
	_ = s.records.conn.Disown(ctx, nameOf(of.User), entryOf(k, of.Entry))
}

const (
	mostPruned = 20  // bounds what a reader of a list does for others
	pageSize   = 100 // records that are read in one round trip
)

// page is some of what a user's list names.
type page struct {
	alive []Record
	ended []Record // marks
	dead  []Key    // entries whose records are not alive, or are another user's
}

// pages reads the records that the user's list names and that are of a kind, up to 100
// keys to a page. An empty kind stands for all kinds. After an error, which it yields
// with an empty page, it yields nothing more.
func (s *ownedRecords) pages(ctx context.Context, user string, kind Kind) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		entries, err := s.records.conn.Owned(ctx, nameOf(user))
		if err != nil {
			yield(page{}, err)
			return
		}
		keys, entriesOf := keysOf(entries, kind)
		for some := range slices.Chunk(keys, pageSize) {
			found, err := s.records.conn.Get(ctx, some...)
			if err != nil {
				yield(page{}, err)
				return
			}
			if !yield(pageOf(user, found, some, entriesOf), nil) {
				return
			}
		}
	}
}

// keysOf returns the keys of the records that the entries are of, each key once, and the
// entries of each key. It leaves out entries of another kind; an empty kind stands for
// all.
func keysOf(entries []Key, kind Kind) (keys []Key, entriesOf map[Key][]Key) {
	entriesOf = make(map[Key][]Key, len(entries))
	for _, entry := range entries {
		if kind != "" && entry.Kind != kind {
			continue
		}
		k, _ := splitEntry(entry)
		if entriesOf[k] == nil {
			keys = append(keys, k)
		}
		entriesOf[k] = append(entriesOf[k], entry)
	}
	return keys, entriesOf
}

// pageOf sorts found, the records that were read for keys, into a page. alive has the live
// records of user, and ended has the marks. dead has the entries that name no live record of
// user: also those of a record that is another user's or cannot be decoded.
func pageOf(user string, found []Record, keys []Key, entriesOf map[Key][]Key) (p page) {
	living := make(map[Key]bool, len(found))
	for _, r := range found {
		if of, mine := isOf(&r, user); mine {
			living[entryOf(r.Key, of.Entry)] = true
			p.alive = append(p.alive, r)
		} else if r.IsVoid() {
			p.ended = append(p.ended, r)
		}
	}
	for _, k := range keys {
		for _, entry := range entriesOf[k] {
			if !living[entry] {
				p.dead = append(p.dead, entry)
			}
		}
	}
	return p
}

// list returns the live records of a user that are of a kind. It also prunes up to 20
// entries without a live record, and ignores errors of that.
func (s *ownedRecords) list(ctx context.Context, user string, kind Kind) (all []Record, err error) {
	left := mostPruned
	for p, err := range s.pages(ctx, user, kind) {
		if err != nil {
			return nil, err
		}
		left = s.tidy(ctx, user, p.dead, left)
		all = append(all, p.alive...)
	}
	return all, nil
}

// tidy prunes dead entries, the first ones up to the number most, and returns how many
// more the caller may prune. After an error it stops and returns 0: dead entries do no
// harm, and the store may be slow to answer.
func (s *ownedRecords) tidy(ctx context.Context, user string, dead []Key, most int) int {
	dead = dead[:min(len(dead), most)]
	if parallel(dead, func(entry Key) error { return s.prune(ctx, user, entry) }) != nil {
		return 0
	}
	return most - len(dead)
}

// prune removes an entry from the user's list, unless a record with that entry has been
// written meanwhile. If no record is alive under the key, it first marks the key, so
// that no such record can be written later.
func (s *ownedRecords) prune(ctx context.Context, user string, entry Key) error {
	k, part := splitEntry(entry)
	for try := 0; ; try++ {
		seen, err := s.records.look(ctx, k)
		if err != nil {
			return err
		}
		if of, mine := isOf(&seen, user); mine && of.Entry == part {
			return nil
		}
		if !seen.isAlive() {
			_, err = s.records.void(ctx, seen)
		}
		if err == nil {
			return s.records.conn.Disown(ctx, nameOf(user), entry)
		}
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// isOf reports whether a record is alive and belongs to the user. It also returns the
// record's owner and entry. It returns false for a record that cannot be decoded.
func isOf(r *Record, user string) (owned, bool) {
	if !r.isAlive() {
		return owned{}, false
	}
	of, err := decode[owned](r)
	return of, err == nil && of.User == user
}
