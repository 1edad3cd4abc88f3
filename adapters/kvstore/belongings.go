package kvstore

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// What belongs to a user stands in a list, too, and is never without its entry
// there, whatever else happens at the same time and wherever a process ends. The
// entry comes before the record, and has a part of its own that only this record
// has, even if another was under the same key before. It is removed when nobody
// can write that record any more: after it was ended, or, where it is not there,
// after its key was marked.

// belonging is what records of belongings have in common.
type belonging struct {
	owner
	Entry string `json:"entry"` // the entry's own part
}

func entryOf(k Key, part string) Key { return Key{k.Kind, k.Name + "=" + part} }

// splitEntry finds the key of the record that an entry is of.
func splitEntry(entry Key) (k Key, part string) {
	i := strings.LastIndexByte(entry.Name, '=')
	if i <= 0 {
		return entry, ""
	}
	return Key{entry.Kind, entry.Name[:i]}, entry.Name[i+1:]
}

// createOwned is create of what belongs to a user, made with the part of its
// entry. What is alive already gives way if isFree says so.
func (s *records) createOwned(ctx context.Context, user string, seen Record, with func(part string) value, until time.Time, isFree func(*Record) (bool, error)) error {
	for try := 0; ; try++ {
		part := random(6)
		entry := entryOf(seen.Key, part)
		if err := s.conn.Own(ctx, nameOf(user), entry); err != nil {
			return err
		}
		_, err := s.write(ctx, seen, with(part), until)
		if !errors.Is(err, latchkey.ErrConflict) {
			return err
		}
		if err := s.conn.Disown(ctx, nameOf(user), entry); err != nil {
			return err
		}
		if seen, err = s.clear(ctx, seen.Key, isFree); err != nil {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// clear returns what is to be written over. What is alive is ended before, if
// isFree says so: who prunes the entry of what is to come marks the key anew, and
// of two who have seen a mark one loses.
func (s *records) clear(ctx context.Context, k Key, isFree func(*Record) (bool, error)) (Record, error) {
	seen, err := s.look(ctx, k)
	if err != nil || !seen.isAlive() {
		return seen, err
	}
	free, err := isFree(&seen)
	if err == nil && !free {
		err = latchkey.ErrConflict
	}
	if err != nil {
		return seen, err
	}
	mark, err := s.void(ctx, seen)
	if errors.Is(err, latchkey.ErrConflict) {
		return Record{Key: k}, nil // others were faster: the next try finds them
	}
	return mark, err
}

// takeOwned is take of what belongs to a user.
func (s *records) takeOwned(ctx context.Context, k Key, wanted func(*Record) error) (Record, error) {
	seen, err := s.look(ctx, k)
	if err != nil {
		return seen, err
	}
	return s.takeSeenOwned(ctx, seen, wanted)
}

// takeSeenOwned is takeOwned of what was looked at before.
func (s *records) takeSeenOwned(ctx context.Context, seen Record, wanted func(*Record) error) (Record, error) {
	r, err := s.takeSeen(ctx, seen, wanted)
	if err != nil {
		return r, err
	}
	if of, err := decode[belonging](&r); err == nil {
		_ = s.conn.Disown(ctx, nameOf(of.User), entryOf(r.Key, of.Entry)) // one that is left over does no harm
	}
	return r, nil
}

const (
	mostPruned = 20  // bounds what a reader of a list does for others
	pageSize   = 100 // records that are read in one go
)

// page is some of what a list of belongings names.
type page struct {
	alive []Record
	ended []Record // marks
	dead  []Key    // entries whose records are not alive, or are another's
}

// pages reads what a user has of a kind; empty: of all kinds.
func (s *records) pages(ctx context.Context, user string, kind Kind) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		entries, err := s.conn.Owned(ctx, nameOf(user))
		if err != nil {
			yield(page{}, err)
			return
		}
		keys, entriesOf := keysOf(entries, kind)
		for some := range slices.Chunk(keys, pageSize) {
			found, err := s.conn.Get(ctx, some...)
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

// owned returns what a user has of a kind. It removes entries that are left over.
func (s *records) owned(ctx context.Context, user string, kind Kind) (all []Record, err error) {
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

// tidy prunes entries, at most so many, and says how many more it may be. After
// one that fails there are none: what is left over does no harm, and the store
// may be slow to refuse.
func (s *records) tidy(ctx context.Context, user string, dead []Key, most int) int {
	dead = dead[:min(len(dead), most)]
	if together(dead, func(entry Key) error { return s.prune(ctx, user, entry) }) != nil {
		return 0
	}
	return most - len(dead)
}

// keysOf are the records of the entries of a kind, each once, and which entries
// they have.
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

// prune removes an entry, unless its record has come meanwhile.
func (s *records) prune(ctx context.Context, user string, entry Key) error {
	k, part := splitEntry(entry)
	for try := 0; ; try++ {
		seen, err := s.look(ctx, k)
		if err != nil {
			return err
		}
		if of, mine := isOf(&seen, user); mine && of.Entry == part {
			return nil
		}
		if !seen.isAlive() {
			_, err = s.void(ctx, seen)
		}
		if err == nil {
			return s.conn.Disown(ctx, nameOf(user), entry)
		}
		if !errors.Is(err, latchkey.ErrConflict) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// isOf tells whether a record is alive and belongs to the user.
func isOf(r *Record, user string) (belonging, bool) {
	if !r.isAlive() {
		return belonging{}, false
	}
	of, err := decode[belonging](r)
	return of, err == nil && of.User == user
}
