package redisadapter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

type sessionObject struct {
	SessionToken string `json:"sessionToken"`
	UserID       string `json:"userId"`
	Expires      iso    `json:"expires"`

	// Auth.js has none of these and keeps them.
	ID             string   `json:"id,omitempty"`
	Created        iso      `json:"created,omitzero"`
	UserAgent      string   `json:"userAgent,omitempty"`
	Tenant         string   `json:"tenant,omitempty"`
	Provider       string   `json:"provider,omitempty"`
	ProviderSID    string   `json:"providerSid,omitempty"`
	ProviderSub    string   `json:"providerSub,omitempty"`
	ProviderIssued iso      `json:"providerIssued,omitzero"`
	Sealed         string   `json:"sealed,omitempty"`
	Proved         iso      `json:"proved,omitzero"`
	AMR            []string `json:"amr,omitempty"`
	ACR            string   `json:"acr,omitempty"`
}

// foundSession is a session and the text that says so.
type foundSession struct {
	latchkey.StoredSession
	text *string
}

// asSession reads a session. The key of an index is no token: what does not say
// that it has this token is nothing.
func asSession(text *string, token string) (foundSession, error) {
	var o sessionObject
	if token == "" || !decodeObject(text, &o) || o.SessionToken != token || o.UserID == "" {
		return foundSession{}, latchkey.ErrNotFound
	}
	if o.ID == "" { // made by Auth.js
		hash := sha256.Sum256([]byte(token))
		o.ID = base64.RawURLEncoding.EncodeToString(hash[:16])
	}
	return foundSession{latchkey.StoredSession{
		ID: o.ID, Token: token, UserID: o.UserID, Expires: o.Expires.Time, Created: o.Created.Time, UserAgent: o.UserAgent,
		Tenant: o.Tenant, Provider: o.Provider, ProviderSID: o.ProviderSID, ProviderSub: o.ProviderSub, ProviderIssued: o.ProviderIssued.Time,
		Sealed: o.Sealed, Proved: o.Proved.Time, AMR: o.AMR, ACR: o.ACR,
	}, text}, nil
}

func sessionText(over *string, s latchkey.StoredSession) (string, error) {
	s.UserAgent = strings.ToValidUTF8(s.UserAgent, "\ufffd") // a browser may say anything
	if !areUTF8(append(slices.Clone(s.AMR), s.Token, s.UserID, s.ID, s.Tenant, s.Provider, s.ProviderSID, s.ProviderSub, s.Sealed, s.ACR)...) {
		return "", errNoUTF8
	}
	return encodeObject(over, sessionObject{
		s.Token, s.UserID,
		iso{s.Expires},
		s.ID,
		iso{s.Created},
		s.UserAgent, s.Tenant, s.Provider, s.ProviderSID, s.ProviderSub,
		iso{s.ProviderIssued},
		s.Sealed,
		iso{s.Proved},
		s.AMR, s.ACR,
	}, nil)
}

// CreateSession implements [latchkey.SessionStore].
func (a *authJS) CreateSession(ctx context.Context, s latchkey.StoredSession) error {
	if s.ID == "" {
		s.ID = newUUID()
	}
	text, err := sessionText(nil, s)
	if err != nil {
		return err
	}
	key := a.at(ofSession, s.Token)
	return a.change(ctx, func(p *plan) error {
		taken, err := a.text(ctx, key)
		if err == nil && taken != nil {
			err = latchkey.ErrConflict
		}
		p.want(key, nil)
		p.setUntil(key, text, s.Expires)
		p.set(a.at(lastSessionOf, s.UserID), key)
		p.Add = append(p.Add, [2]string{a.at(belongingsOf, s.UserID), key})
		return err
	})
}

func (a *authJS) session(ctx context.Context, token string) (foundSession, error) {
	text, err := a.text(ctx, a.at(ofSession, token))
	if err != nil {
		return foundSession{}, err
	}
	return asSession(text, token)
}

// GetSession implements [latchkey.SessionStore].
func (a *authJS) GetSession(ctx context.Context, token string) (latchkey.StoredSession, error) {
	s, err := a.session(ctx, token)
	return s.StoredSession, err
}

// GetSessionAndUser implements [latchkey.SessionAdapter], in two round trips: the
// texts that others have written are not for a script to read.
func (a *authJS) GetSessionAndUser(ctx context.Context, token string) (latchkey.StoredSession, latchkey.User, error) {
	s, err := a.GetSession(ctx, token)
	if err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, err
	}
	u, err := a.GetUser(ctx, s.UserID)
	if err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, err
	}
	return s, u, nil
}

// UpdateSession implements [latchkey.SessionStore].
func (a *authJS) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	key := a.at(ofSession, token)
	return a.change(ctx, func(p *plan) error {
		s, err := a.session(ctx, token)
		if err != nil || !expires.After(s.Expires) {
			return err
		}
		s.Expires = expires
		text, err := sessionText(s.text, s.StoredSession)
		p.want(key, s.text)
		p.setUntil(key, text, expires)
		return err
	})
}

// DeleteSession implements [latchkey.SessionStore].
func (a *authJS) DeleteSession(ctx context.Context, token string) (latchkey.StoredSession, error) {
	var removed foundSession
	err := a.end(ctx, a.at(ofSession, token), func(p *plan) (err error) {
		if removed, err = a.session(ctx, token); err != nil {
			return err
		}
		return a.planEnd(ctx, p, token, removed)
	})
	if err != nil {
		return latchkey.StoredSession{}, err
	}
	return removed.StoredSession, nil
}

func (a *authJS) planEnd(ctx context.Context, p *plan, token string, s foundSession) error {
	key := a.at(ofSession, token)
	p.want(key, s.text)
	return a.planRemoval(ctx, p, lastSessionOf, s.UserID, key)
}

// sessions are those of a user with their tokens. Of those that Auth.js has
// opened only the last is known.
func (a *authJS) sessions(ctx context.Context, userID string) ([]foundSession, error) {
	all, _, err := a.belongings(ctx, userID, ofSession)
	var list []foundSession
	for _, one := range all {
		var o sessionObject
		if !decodeObject(&one.text, &o) || a.at(ofSession, o.SessionToken) != one.key {
			continue
		}
		if s, err := asSession(&one.text, o.SessionToken); err == nil {
			list = append(list, s)
		}
	}
	return list, err
}

// ListSessions implements [latchkey.SessionListAdapter].
func (a *authJS) ListSessions(ctx context.Context, userID string) ([]latchkey.StoredSession, error) {
	found, err := a.sessions(ctx, userID)
	var list []latchkey.StoredSession
	for _, s := range found {
		s.Token = ""
		list = append(list, s.StoredSession)
	}
	return list, err
}

// DeleteSessionByID implements [latchkey.SessionListAdapter].
func (a *authJS) DeleteSessionByID(ctx context.Context, userID, id string) error {
	found, err := a.sessions(ctx, userID)
	if err != nil {
		return err
	}
	for _, s := range found {
		if s.ID == id {
			_, err := a.DeleteSession(ctx, s.Token)
			return err
		}
	}
	return cmp.Or(a.await(ctx, a.at(lastSessionOf, userID)), latchkey.ErrNotFound)
}

// mostEnded is how many sessions one script ends: others wait while it runs.
const mostEnded = 100

// DeleteSessions implements [latchkey.SessionListAdapter].
func (a *authJS) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	found, err := a.sessions(ctx, userID)
	if err != nil {
		return 0, err
	}
	found = slices.DeleteFunc(found, func(s foundSession) bool { return keep != "" && s.ID == keep })
	for some := range slices.Chunk(found, mostEnded) {
		ended, err := a.endSessions(ctx, userID, some)
		n += ended
		if err != nil {
			return n, err
		}
	}
	if n == 0 { // another try may have ended them all
		return 0, a.await(ctx, a.at(lastSessionOf, userID))
	}
	return n, nil
}

// endSessions ends some together if they are as they were found, and otherwise
// each by itself.
func (a *authJS) endSessions(ctx context.Context, userID string, some []foundSession) (n int, err error) {
	last, err := a.text(ctx, a.at(lastSessionOf, userID))
	if err != nil {
		return 0, err
	}
	var p plan
	for _, s := range some {
		p.want(a.at(ofSession, s.Token), s.text)
		a.remove(&p, lastSessionOf, userID, a.at(ofSession, s.Token), last)
	}
	switch err := a.commit(ctx, &p); {
	case err == nil:
		return len(some), nil
	case !errors.Is(err, errStale):
		return 0, err
	}
	for _, s := range some {
		switch _, err := a.DeleteSession(ctx, s.Token); {
		case err == nil:
			n++
		case ignoreMissing(err) != nil:
			return n, err
		}
	}
	return n, nil
}
