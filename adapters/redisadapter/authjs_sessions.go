package redisadapter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// sessionObject is the record of a session.
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
	Actor          string   `json:"actor,omitempty"`
	ActorSession   string   `json:"actorSession,omitempty"`
}

// foundSession is a session, with the value of its key.
type foundSession struct {
	storage.StoredSession
	text *string
}

// asSession returns the session in text, the value of a key. It returns ErrNotFound if
// text is nil or has no session with this token: a token may look like the key of an
// index. A session that Auth.js has made gets an id that is made of its token.
func asSession(text *string, token string) (foundSession, error) {
	var o sessionObject
	if token == "" || !decodeObject(text, &o) || o.SessionToken != token || o.UserID == "" {
		return foundSession{}, storage.ErrNotFound
	}
	if o.ID == "" { // made by Auth.js
		hash := sha256.Sum256([]byte(token))
		o.ID = base64.RawURLEncoding.EncodeToString(hash[:16])
	}
	return foundSession{storage.StoredSession{
		ID: o.ID, Token: token, UserID: o.UserID, Expires: o.Expires.Time, Created: o.Created.Time, UserAgent: o.UserAgent,
		Tenant: o.Tenant, Provider: o.Provider, ProviderSID: o.ProviderSID, ProviderSub: o.ProviderSub, ProviderIssued: o.ProviderIssued.Time,
		Sealed: o.Sealed, Proved: o.Proved.Time, AMR: o.AMR, ACR: o.ACR,
		Actor: o.Actor, ActorSession: o.ActorSession,
	}, text}, nil
}

// sessionText returns the record of a session as Auth.js writes it. over is the record
// that it replaces, or nil; members of over that this package does not know are kept. It
// returns errNoUTF8 for a session with text that is not UTF-8, and errMember if over is no
// JSON object.
func sessionText(over *string, s storage.StoredSession) (string, error) {
	s.UserAgent = strings.ToValidUTF8(s.UserAgent, "\ufffd") // a browser may say anything
	if !areUTF8(append(slices.Clone(s.AMR), s.Token, s.UserID, s.ID, s.Tenant, s.Provider, s.ProviderSID, s.ProviderSub, s.Sealed, s.ACR, s.Actor, s.ActorSession)...) {
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
		s.AMR, s.ACR, s.Actor, s.ActorSession,
	}, nil)
}

// CreateSession implements [storage.SessionAdapter] and [storage.SessionStore]. It does
// not ask whether there is such a user. It stores the token as it is.
func (a *authJS) CreateSession(ctx context.Context, s storage.StoredSession) error {
	if s.ID == "" {
		s.ID = newUUID()
	}
	text, err := sessionText(nil, s)
	if err != nil {
		return err
	}
	key := a.keys.at(ofSession, s.Token)
	return a.keys.change(ctx, func(p *plan) error {
		some, err := a.owned.look(ctx, s.UserID)
		if err != nil {
			return err
		}
		texts, err := a.keys.texts(ctx, append(some, key)...)
		if err != nil {
			return err
		}
		if texts[len(some)] != nil {
			return storage.ErrConflict
		}
		a.owned.drop(p, s.UserID, slices.DeleteFunc(withoutText(some, texts[:len(some)]), func(old string) bool { return old == key }))
		p.want(key, nil)
		p.setUntil(key, text, s.Expires)
		p.set(a.keys.at(lastSessionOf, s.UserID), key)
		a.owned.add(p, s.UserID, key)
		return nil
	})
}

// GetSession implements [storage.SessionStore].
func (a *authJS) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	s, err := a.sessions.find(ctx, token)
	return s.StoredSession, err
}

// GetSessionAndUser implements [storage.SessionAdapter]. It takes two round trips: a
// script cannot be trusted to read values that other programs have written.
func (a *authJS) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	s, err := a.GetSession(ctx, token)
	if err != nil {
		return storage.StoredSession{}, storage.User{}, err
	}
	u, err := a.GetUser(ctx, s.UserID)
	if err != nil {
		return storage.StoredSession{}, storage.User{}, err
	}
	return s, u, nil
}

// UpdateSession implements [storage.SessionStore].
func (a *authJS) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	key := a.keys.at(ofSession, token)
	return a.keys.change(ctx, func(p *plan) error {
		s, err := a.sessions.find(ctx, token)
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

// DeleteSession implements [storage.SessionStore].
func (a *authJS) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	removed, err := a.sessions.end(ctx, token)
	if err != nil {
		return storage.StoredSession{}, err
	}
	return removed.StoredSession, nil
}

// ListSessions implements [storage.SessionListAdapter]. Of the sessions that Auth.js has
// opened it finds only the last.
func (a *authJS) ListSessions(ctx context.Context, userID string) ([]storage.StoredSession, error) {
	found, err := a.sessions.list(ctx, userID)
	var list []storage.StoredSession
	for _, s := range found {
		s.Token = ""
		list = append(list, s.StoredSession)
	}
	return list, err
}

// DeleteSessionByID implements [storage.SessionListAdapter]. It finds the sessions that
// ListSessions finds; any other is ErrNotFound.
func (a *authJS) DeleteSessionByID(ctx context.Context, userID, id string) error {
	found, err := a.sessions.list(ctx, userID)
	if err != nil {
		return err
	}
	for _, s := range found {
		if s.ID == id {
			_, err := a.sessions.end(ctx, s.Token)
			return err
		}
	}
	return cmp.Or(a.keys.await(ctx), storage.ErrNotFound)
}

// DeleteSessions implements [storage.SessionListAdapter]. It ends only sessions that
// ListSessions finds: others that Auth.js has opened stay. So does the one with the id
// keep. Where replicas are waited for, it waits even if it finds none to end.
func (a *authJS) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	found, err := a.sessions.list(ctx, userID)
	if err != nil {
		return 0, err
	}
	found = slices.DeleteFunc(found, func(s foundSession) bool { return keep != "" && s.ID == keep })
	for some := range slices.Chunk(found, mostEnded) {
		ended, err := a.sessions.endSome(ctx, userID, some)
		n += ended
		if err != nil {
			return n, err
		}
	}
	if err := a.owned.pruneAll(ctx, userID); err != nil {
		return n, err
	}
	if n == 0 { // an earlier call may have ended them all, and waited for no replica
		return 0, a.keys.await(ctx)
	}
	return n, nil
}

// DeleteProviderSessions implements [storage.ProviderLogoutAdapter]. It always returns
// an error that wraps [errors.ErrUnsupported]: Auth.js has no keys for what a provider
// calls its sessions.
func (*authJS) DeleteProviderSessions(context.Context, []string, []string, time.Time) ([]storage.StoredSession, error) {
	return nil, fmt.Errorf("redisadapter: the layout of Auth.js does not name sessions as their provider does: %w", errors.ErrUnsupported)
}
