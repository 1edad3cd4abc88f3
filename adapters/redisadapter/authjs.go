package redisadapter

import "github.com/latchkeyhq/latchkey/storage"

// authJS keeps users, accounts, sessions, links and passkeys as the adapters of
// Auth.js do. Each change touches several of their keys, which have no slots in
// common. The change is decided here. One script writes it if nothing that it was
// decided by has changed meanwhile. docs/internals/authjs-layouts.md has the
// keys.
type authJS struct {
	roles // what Auth.js has no keys for

	keys     *keyspace
	users    *userKeys
	owned    *ownedKeys
	sessions *sessionKeys
	passkeys *passkeyKeys
}

// roles are kept in the layout of this package.
type roles interface {
	storage.SignUpAdapter
	storage.RevocationStore
	storage.ReturningLimiter
	storage.ReplayStore
	storage.LeaseStore
}

// newAuthJS returns the stores on the keys of Auth.js, in the layout [Unstorage] if
// isUnstorage is true, and otherwise in the layout [AuthJS]. rest keeps what Auth.js has
// no keys for.
func newAuthJS(c *conn, rest roles, isUnstorage bool) *authJS {
	k := &keyspace{c, isUnstorage}
	owned := &ownedKeys{k}
	return &authJS{
		roles: rest, keys: k, users: &userKeys{k}, owned: owned, sessions: &sessionKeys{k, owned}, passkeys: &passkeyKeys{k},
	}
}
