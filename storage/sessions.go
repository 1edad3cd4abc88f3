package storage

import (
	"context"
	"time"
)

// SessionAdapter keeps sessions beside their users. latchkey.DatabaseSessions
// needs it, unless the sessions are in a [SessionStore].
type SessionAdapter interface {
	// CreateSession stores s. The store replaces an empty ID by one that it chooses; a
	// store whose ids have another type may replace any ID. The caller learns the ID when
	// it next reads the session. Tokens are unique: a taken token is ErrConflict. IDs are
	// random, and a store need not check that they are unique. If there is no user with
	// the UserID, a store may return ErrNotFound, or store the session.
	// GetSessionAndUser of such a session must then return ErrNotFound.
	CreateSession(ctx context.Context, s StoredSession) error
	// GetSessionAndUser returns a session and its user, in as few round trips as the
	// store allows. The Token of the session is the token that was asked for, however it
	// is stored.
	GetSessionAndUser(ctx context.Context, token string) (StoredSession, User, error)
	// UpdateSession moves the expiry of the session to expires. If the session expires
	// later already, UpdateSession does nothing. It returns ErrNotFound for a session
	// that is gone, and never brings it back.
	UpdateSession(ctx context.Context, token string, expires time.Time) error
	// DeleteSession removes the session and returns what was removed. The Token of the
	// returned session is the token that was asked for, however it was stored.
	DeleteSession(ctx context.Context, token string) (StoredSession, error)
}

// SessionRenewalAdapter gives a session another token after a new proof of the
// user's identity. Without it the session is made anew and the old one ended.
type SessionRenewalAdapter interface {
	// RenewSession replaces the token, Expires, Proved, AMR and ACR of the session
	// with the given token by those of next, in one atomic step. If next has a
	// ProviderSID or a ProviderSub, RenewSession replaces ProviderSID, ProviderSub,
	// ProviderIssued and Sealed, too, as far as the store keeps them. Everything else
	// stays as stored, and the other fields of next are ignored. A session that is gone is
	// ErrNotFound. A taken token is ErrConflict. Afterwards no session has the old
	// token.
	RenewSession(ctx context.Context, token string, next StoredSession) error
}

// SessionListAdapter lists and ends the sessions of one user: their devices. The
// Token of a listed session is empty.
type SessionListAdapter interface {
	// ListSessions returns the sessions of a user, in any order. An unknown user has
	// none.
	ListSessions(ctx context.Context, userID string) ([]StoredSession, error)
	// DeleteSessionByID removes one session of the user, named by
	// [StoredSession].ID. A session of another user is ErrNotFound.
	DeleteSessionByID(ctx context.Context, userID, id string) error
	// DeleteSessions removes all sessions of the user except the one whose ID is
	// keep, and returns how many. With an empty keep it removes all.
	DeleteSessions(ctx context.Context, userID, keep string) (int, error)
}

// ProviderLogoutAdapter ends stored sessions by what an OpenID Provider calls them.
type ProviderLogoutAdapter interface {
	// DeleteProviderSessions removes the sessions whose ProviderSID is one of sids
	// or, if sids is empty, whose ProviderSub is one of subs. It leaves those whose
	// ProviderIssued is known and after issued. Empty texts name no session. It returns
	// the sessions that it removed, also beside an error. A repeated call goes on where
	// it stopped. The Token of a returned session may be empty.
	//
	// A call with both lists empty asks whether the tables have columns for ProviderSID
	// and ProviderSub: it removes nothing, and returns an error that is
	// [errors.ErrUnsupported] if they have not.
	DeleteProviderSessions(ctx context.Context, sids, subs []string, issued time.Time) ([]StoredSession, error)
}

// SessionStore keeps sessions apart from their users, in a database of its own:
// see latchkey.SessionConfig.Store. An adapter that serves as a SessionStore may refuse
// sessions of users that another adapter keeps, for example by a foreign key.
type SessionStore interface {
	// CreateSession stores s. The store replaces an empty ID by one that it chooses. A
	// taken token is ErrConflict. The store need not know whether there is a user with
	// the UserID.
	CreateSession(ctx context.Context, s StoredSession) error
	// GetSession returns a session. Its Token is the token that was asked for, however it
	// is stored.
	GetSession(ctx context.Context, token string) (StoredSession, error)
	// UpdateSession moves the expiry of the session to expires. If the session expires
	// later already, UpdateSession does nothing. It returns ErrNotFound for a session
	// that is gone, and never brings it back.
	UpdateSession(ctx context.Context, token string, expires time.Time) error
	// DeleteSession removes the session and returns what was removed. The Token of the
	// returned session is the token that was asked for, however it was stored.
	DeleteSession(ctx context.Context, token string) (StoredSession, error)
	SessionListAdapter
}
