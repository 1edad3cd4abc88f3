package latchkey

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/storage"
)

// SessionConfig says where sessions are kept and for how long.
type SessionConfig struct {
	Strategy  Strategy      // empty: DatabaseSessions if there is an Adapter, else JWTSessions
	MaxAge    time.Duration // idle lifetime; 0: 30 days
	UpdateAge time.Duration // a stored session is extended at most this often; 0: one day, negative: on every read
	// AbsoluteMaxAge ends a session this long after its sign-in, however often it was
	// renewed. 0: never; 30 days when Hardened. Stored sessions need an adapter that keeps
	// StoredSession.Created.
	AbsoluteMaxAge time.Duration
	// NewToken makes the token of a stored session, of at least 32 characters. It must not
	// begin with "bearer.". nil: 32 random bytes in hex.
	NewToken func() string
	// Revocations makes the end of a JWT session final: a copied cookie is dead
	// after the sign-out. If a user is deleted, all sessions of the user are dead. It costs one
	// lookup a read. It also remembers when all sessions of a user were ended,
	// which voids sign-ins under way. Stored sessions need it for that alone, and only
	// if the Adapter is no [storage.RevocationStore]. nil: the Adapter if it is a
	// storage.RevocationStore, as most are; otherwise there is none.
	Revocations storage.RevocationStore
	// SkipRevocations makes the library accept JWT sessions without a lookup whether
	// they have ended, even if the Adapter is a [storage.RevocationStore]. Logs a
	// warning.
	SkipRevocations bool
	// Store keeps the sessions of DatabaseSessions apart from the users, in a
	// store that is faster than the Adapter's database, or that takes reads off
	// it. nil: the Adapter keeps them. A sign-in then commits the user first and
	// opens the session afterwards; whatever ends sessions fails as a whole when
	// Store does. Tenants with an Adapter of their own need a Store of their own,
	// or a part of one that is theirs.
	Store storage.SessionStore
	// AdapterToo looks in the Adapter for sessions that Store does not know:
	// those from before Store was set. They stay there until they end.
	AdapterToo bool
	// Cache lets this process believe for a while what it has read of a session,
	// or, with JWTSessions, of its revocation. The zero value asks every time.
	Cache SessionCache
	// Bearer makes guards, the session route and the sign-out accept a session token in
	// the header Authorization: Bearer as well, for native apps and services;
	// [Auth.BearerToken] hands such tokens out. A request that has the header is judged
	// by it alone, and its cookies are neither read nor changed. Off by default. See
	// docs/bearer.md.
	Bearer bool
	// ActAs lets administrators act as users, each in a session of its own. Off by
	// default.
	ActAs ActAs

	JWT JWTConfig // the token of JWTSessions
}

// ActAs says how long an administrator may act as a user: see [Auth.ActAsLink]. It
// needs an Adapter that is a [storage.ChallengeAdapter]. Stored sessions also need a
// [storage.SessionListAdapter], which is the Adapter or [SessionConfig].Store. JWTSessions
// also need a [storage.RevocationStore], which is the Adapter or SessionConfig.Revocations.
// Notify needs a way to send mails, which is [Config].Mail or an [Email] provider.
type ActAs struct {
	Max    time.Duration // of a session, which is never extended; 0: off; at most an hour
	Notify bool          // mail the user, at a proven address, that an administrator has begun
}

// SessionCache says how long one process believes what a store has said of a
// session that is read. A sign-out in this process is seen at once. A sign-out in
// another process, or of another tenant that shares the Adapter, is seen here at most
// MaxAge later, and so is any other change of the user there. Every change, the account
// page and the linking of accounts ask the store all the same. A cached answer never
// extends the lifetime of a JWT session. The cache is in memory, by a hash of the token.
// Each configuration, and so each tenant, has a cache of its own of this size.
type SessionCache struct {
	MaxAge time.Duration // how long an answer is believed, from the moment when the question was sent; 0: there is no cache; at most 5 minutes
	Size   int           // sessions kept, of which the least recently used goes first; 0: 10,000
}

// JWTConfig adjusts session tokens. The zero value is right for nearly
// everyone.
type JWTConfig struct {
	MaxAge time.Duration // from a token's iat, whatever its exp says; 0: Session.MaxAge
	// Encode and Decode replace the sealed token of package jwt. nil: that token is made,
	// or read. Each may be set without the other, for sites that move from one kind of
	// token to another. A Decode reads every token, and nothing is tried after its error.
	// So a Decode without an Encode also has to read the sealed tokens, with jwt.Decode. An
	// Encode without a Decode has to make tokens that jwt.Decode reads. Both have to heed
	// their context. Encode writes iat and exp itself: Claims has none at a sign-in, and later
	// those of the former token. Decode returns all claims that Encode was given, and iat and
	// exp: MaxAge counts from iat. It returns an error for any token that it does not accept,
	// expired ones included. If the error is jwt.ErrExpired, the session counts as expired.
	Encode func(ctx context.Context, p JWTParams) (string, error)
	Decode func(ctx context.Context, token string, p JWTParams) (Claims, error)
}

// JWTParams is what [JWTConfig].Encode and Decode are given.
type JWTParams struct {
	hidden

	Claims  Claims        // for Encode; nil for Decode
	Secrets []string      // newest first
	Salt    string        // the name of the session cookie
	MaxAge  time.Duration // for Encode: how long the token lives from now, negative if it has expired already; for Decode: JWTConfig.MaxAge
}

// check adds an error to f if MaxAge or Size is out of bounds.
func (c *SessionCache) check(f *failure.List) {
	if c.MaxAge < 0 || c.MaxAge > mostBelief || c.Size < 0 {
		f.Add(ErrInvalidConfig, "Session.Cache: want a MaxAge of at most %v, a Size that is not negative, or zero for no cache and for the default", mostBelief)
	}
}

// mostBelief is the longest MaxAge of a [SessionCache]: how late a sign-out elsewhere may
// be noticed here.
const mostBelief = 5 * time.Minute

// editsEmail names, in errors, the field that lets users change their address.
const editsEmail = "AccountPage.Edit with EditEmail"

// movesAddresses reports whether users change their address on the account page, also on
// a site that keeps no passwords.
func (c *AccountPage) movesAddresses() bool { return c.Enabled && c.Edit&EditEmail != 0 }

// needs yields what the account page needs of the Adapter: the name of the field of
// Config that needs it, for errors, and the ability. ends is the result of endsSessions:
// another address ends the sessions of its user.
func (c *AccountPage) needs(ends []directory.Ability) iter.Seq2[string, directory.Ability] {
	moving := append(slices.Clone(ends), directory.AbilityChallenges)
	return func(yield func(string, directory.Ability) bool) {
		switch {
		case c.Enabled && !yield("AccountPage.Enabled", directory.AbilityAccountLists):
		case c.movesAddresses() && slices.ContainsFunc(moving, func(what directory.Ability) bool { return !yield(editsEmail, what) }):
		case c.Activity:
			yield("AccountPage.Activity", directory.AbilityActivities)
		}
	}
}

// endsSessions returns what the Adapter needs so that a change of how a user signs in can
// end all sessions of the user. An adapter without it would leave a thief signed in
//
func endsSessions(c *Config) []directory.Ability {
	if c.Session.Strategy != DatabaseSessions {
		return nil
	}
	return []directory.Ability{directory.AbilitySessionLists}
}
