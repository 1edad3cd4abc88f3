package redisadapter

import (
	"context"
	"errors"
)

// sessionKeys reads and ends sessions.
type sessionKeys struct {
	keys  *keyspace
	owned *ownedKeys
}

// find returns the session of a token, or ErrNotFound.
func (s *sessionKeys) find(ctx context.Context, token string) (foundSession, error) {
	text, err := s.keys.text(ctx, s.keys.at(ofSession, token))
	if err != nil {
		return foundSession{}, err
	}
	return asSession(text, token)
}

// list returns the sessions of a user with their tokens. Of the sessions that Auth.js
// has opened it finds only the last.
func (s *sessionKeys) list(ctx context.Context, userID string) (list []foundSession, err error) {
	all, _, err := s.owned.list(ctx, userID, ofSession)
	for _, one := range all {
		var o sessionObject
		if !decodeObject(&one.text, &o) || s.keys.at(ofSession, o.SessionToken) != one.key {
			continue
		}
		if found, err := asSession(&one.text, o.SessionToken); err == nil {
			list = append(list, found)
		}
	}
	return list, err
}

// end removes the session of a token and returns the session as it was. It returns
// ErrNotFound for an unknown session.
func (s *sessionKeys) end(ctx context.Context, token string) (removed foundSession, err error) {
	key := s.keys.at(ofSession, token)
	err = s.keys.end(ctx, func(p *plan) (err error) {
		if removed, err = s.find(ctx, token); err != nil {
			return err
		}
		p.want(key, removed.text)
		return s.owned.remove(ctx, p, lastSessionOf, removed.UserID, key)
	})
	return removed, err
}

// mostEnded is how many sessions one script ends: other commands wait while it runs.
const mostEnded = 100

// endSome ends sessions of a user, which were found before, in one script. If one of them has
// changed since, it ends each by itself. Beside an error it returns how many it knows to have
// ended; if the script has failed, that is 0, although the server may have ended all.
func (s *sessionKeys) endSome(ctx context.Context, userID string, some []foundSession) (n int, err error) {
	last, err := s.keys.text(ctx, s.keys.at(lastSessionOf, userID))
	if err != nil {
		return 0, err
	}
	var p plan
	for _, found := range some {
		key := s.keys.at(ofSession, found.Token)
		p.want(key, found.text)
		s.owned.removeRead(&p, lastSessionOf, userID, key, last)
	}
	switch err := s.keys.commit(ctx, &p); {
	case err == nil:
		return len(some), nil
	case !errors.Is(err, errStale):
		return 0, err
	}
	for _, found := range some {
		switch _, err := s.end(ctx, found.Token); {
		case err == nil:
			n++
		case ignoreMissing(err) != nil:
			return n, err
		}
	}
	return n, nil
}
