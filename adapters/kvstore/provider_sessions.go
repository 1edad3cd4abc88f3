package kvstore

import (
	"context"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// What an OpenID Provider calls its sessions. Each name has a list of the sessions that
// bear it, made as the list of a user is: an entry is written before its record, and
// the store forgets it after the session has expired.

// partByProvider is the part of the entries in such lists. Tokens are not used twice, so
// it need not tell two records under one key apart.
const partByProvider = "p"

// listsOf returns the names of the lists that a session belongs in: one for its SID and
// one for its Sub, as far as the session has them.
func listsOf(v *sessionValue) (lists []string) {
	if v.SID != "" {
		lists = append(lists, listOfSID(v.SID))
	}
	if v.Sub != "" {
		lists = append(lists, listOfSub(v.Sub))
	}
	return lists
}

// listOfSID and listOfSub return the names of the lists for a session id and for a user
// id at a provider. [Conn].Own gets such a name in place of a user's, and no user has
// one.
func listOfSID(sid string) string { return "=" + hash("provider sid", sid) }
func listOfSub(sub string) string { return "=" + hash("provider sub", sub) }

// ownByProvider adds the entry of a session to each list of listsOf, to be kept until
// the given time. If a list has the entry already, the entry is kept longer.
func ownByProvider(ctx context.Context, s *records, k Key, v *sessionValue, until time.Time) error {
	for _, list := range listsOf(v) {
		if err := s.conn.Own(ctx, list, entryOf(k, partByProvider), until); err != nil {
			return err
		}
	}
	return nil
}

// disownByProvider removes the entries of an ended session from the lists of listsOf. It
// ignores errors: an entry that stays does no harm.
func disownByProvider(ctx context.Context, s *records, k Key, v *sessionValue) {
	for _, list := range listsOf(v) {
		_ = s.conn.Disown(ctx, list, entryOf(k, partByProvider))
	}
}

// DeleteProviderSessions implements [storage.ProviderLogoutAdapter]. It looks at subs only
// if sids is empty. The returned sessions have no Token, and may come beside an error. It
// removes the list entries of the sessions that it ends. An entry without a live record
// stays until the store forgets it: its record may be about to be written.
func (s *Store) DeleteProviderSessions(ctx context.Context, sids, subs []string, issued time.Time) (gone []storage.StoredSession, err error) {
	names, list, nameIn := sids, listOfSID, func(v *sessionValue) string { return v.SID }
	if len(sids) == 0 {
		names, list, nameIn = subs, listOfSub, func(v *sessionValue) string { return v.Sub }
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		entries, err := s.records.conn.Owned(ctx, list(name))
		if err != nil {
			return gone, err
		}
		keys, _ := keysOf(entries, KindSession)
		for some := range slices.Chunk(keys, pageSize) {
			ended, err := endNamed(ctx, s.owned, some, func(v *sessionValue) bool {
				return nameIn(v) == name && !v.Issued.Time.After(issued)
			})
			gone = append(gone, ended...)
			if err != nil {
				return gone, err
			}
		}
	}
	return gone, ctx.Err()
}

// endNamed ends those of the sessions under the keys for which ends returns true. It
// returns the sessions that it has ended, without their tokens and also beside an error.
// It leaves out a session that another call has ended, but writes its mark anew, since the
// other call may have failed after it had written the mark.
func endNamed(ctx context.Context, s *ownedRecords, keys []Key, ends func(*sessionValue) bool) (gone []storage.StoredSession, err error) {
	found, err := s.records.conn.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		r, err := s.takeSeen(ctx, r, func(now *Record) error {
			v, err := decode[sessionValue](now)
			if err == nil && !ends(&v) {
				err = storage.ErrNotFound
			}
			return err
		})
		if orAbsent(err) != nil {
			return gone, err
		}
		if err != nil {
			continue // another caller has ended it
		}
		v, err := decode[sessionValue](&r)
		if err != nil {
			return gone, err
		}
		disownByProvider(ctx, s.records, r.Key, &v)
		gone = append(gone, v.session(""))
	}
	return gone, nil
}
