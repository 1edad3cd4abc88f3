package redisadapter

import (
	"context"
	"slices"
)

// ownedKeys finds the accounts and sessions of a user. It reads a set of ours,
// which has the keys of all that Latchkey has written. It also reads the indexes
// of Auth.js, each of which has only the key that was written last.
type ownedKeys struct{ keys *keyspace }

// ownedText is the record of an account or a session.
type ownedText struct{ key, text string }

// list returns the records of a user under keys that begin with part, which is ofAccount
// or ofSession, and all keys that our set has. It also removes keys of that part without
// a value from our set, and ignores errors of that.
func (s *ownedKeys) list(ctx context.Context, userID, part string) (all []ownedText, listed []string, err error) {
	if listed, err = s.members(ctx, userID); err != nil {
		return nil, nil, err
	}
	keys := withPrefix(listed, s.keys.conn.prefix+part)
	last := map[string]string{ofAccount: lastAccountOf, ofSession: lastSessionOf}[part]
	indexed, err := s.keys.text(ctx, s.keys.at(last, userID))
	if err != nil {
		return nil, nil, err
	}
	keys = appendNew(keys, withPrefix([]string{reference(indexed)}, s.keys.conn.prefix+part))
	texts, err := s.keys.texts(ctx, keys...)
	absent := withoutText(keys, texts)
	for i, text := range texts {
		var of struct {
			UserID string `json:"userId"`
		}
		if text != nil && decodeObject(text, &of) && of.UserID == userID {
			all = append(all, ownedText{keys[i], *text})
		}
	}
	return all, s.prune(ctx, userID, listed, absent), err
}

// pruneAll removes all keys without a value from our set, and the index of the last session
// if that leads to a key without a value. It ignores only errors of removals from our set.
func (s *ownedKeys) pruneAll(ctx context.Context, userID string) error {
	listed, err := s.members(ctx, userID)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(listed, mostPruned) {
		texts, err := s.keys.texts(ctx, some...)
		if err != nil {
			return err
		}
		s.prune(ctx, userID, nil, withoutText(some, texts))
	}
	return s.forgetIndex(ctx, s.keys.at(lastSessionOf, userID))
}

// forgetIndex removes an index of Auth.js if it leads to a key without a value. It does
// nothing if the index changes meanwhile.
func (s *ownedKeys) forgetIndex(ctx context.Context, index string) error {
	last, err := s.keys.text(ctx, index)
	if err != nil || last == nil {
		return err
	}
	text, err := s.keys.text(ctx, reference(last))
	if err != nil || text != nil {
		return err
	}
	var p plan
	p.want(index, last)
	p.want(reference(last), nil)
	p.Delete = append(p.Delete, index)
	return ignoreStale(s.keys.commit(ctx, &p)) // another session has begun
}

// withoutText returns the keys that have no value. texts has the value of each key, or
// nil.
func withoutText(keys []string, texts []*string) (absent []string) {
	for i, text := range texts {
		if text == nil {
			absent = append(absent, keys[i])
		}
	}
	return absent
}

// mostLooked is how many keys of our set a sign-in looks at.
const mostLooked = 10

// look returns up to ten keys of our set, at random. A sign-in removes those of them
// that have no value, so that our set does not grow without end if its user signs in and
// nothing ever lists it.
func (s *ownedKeys) look(ctx context.Context, userID string) ([]string, error) {
	keys, err := bounded(ctx, s.keys.conn, func() ([]string, error) {
		return s.keys.conn.client.SRandMemberN(ctx, s.keys.at(ownedBy, userID), mostLooked).Result()
	})
	return keys, fault("SRANDMEMBER", err)
}

// drop plans to remove absent from our set of the user's keys, if they still have no value.
func (s *ownedKeys) drop(p *plan, userID string, absent []string) {
	for _, key := range absent {
		p.want(key, nil)
		p.Remove = append(p.Remove, [2]string{s.keys.at(ownedBy, userID), key})
	}
}

// members returns the keys in our set: those of the user's accounts and sessions.
func (s *ownedKeys) members(ctx context.Context, userID string) ([]string, error) {
	keys, err := bounded(ctx, s.keys.conn, func() ([]string, error) {
		return s.keys.conn.client.SMembers(ctx, s.keys.at(ownedBy, userID)).Result()
	})
	return keys, fault("SMEMBERS", err)
}

// mostPruned is how many keys one call of prune removes at most.
const mostPruned = 100

// prune removes from our set those of absent, at most mostPruned, that still have no
// value: all of them or, if one has a value again, none. It returns listed without the
// removed keys; it may change listed in place. It ignores errors: keys that stay in our
// set do no harm.
func (s *ownedKeys) prune(ctx context.Context, userID string, listed, absent []string) []string {
	if len(absent) == 0 {
		return listed
	}
	absent = absent[:min(len(absent), mostPruned)]
	var p plan
	s.drop(&p, userID, absent)
	if s.keys.commit(ctx, &p) != nil {
		return listed
	}
	return slices.DeleteFunc(listed, func(key string) bool { return slices.Contains(absent, key) })
}

// add plans to add the key of an account or session to our set of the user's keys.
func (s *ownedKeys) add(p *plan, userID, key string) {
	p.Add = append(p.Add, [2]string{s.keys.at(ownedBy, userID), key})
}

// remove plans to delete the record under key, and to remove key from our set. It also
// plans to delete the index, such as lastSessionOf, if it leads to key.
func (s *ownedKeys) remove(ctx context.Context, p *plan, index, userID, key string) error {
	last, err := s.keys.text(ctx, s.keys.at(index, userID))
	s.removeRead(p, index, userID, key, last)
	return err
}

// removeRead does what remove does, but reads nothing: last is the value of the index.
func (s *ownedKeys) removeRead(p *plan, index, userID, key string, last *string) {
	if reference(last) == key {
		p.want(s.keys.at(index, userID), last)
		p.Delete = append(p.Delete, s.keys.at(index, userID))
	}
	p.Delete = append(p.Delete, key)
	p.Remove = append(p.Remove, [2]string{s.keys.at(ownedBy, userID), key})
}
