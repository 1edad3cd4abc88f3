package dynamoadapter

import (
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// authJS keeps users, accounts, sessions and links as @auth/dynamodb-adapter
// does. That adapter finds them by an index, which knows a write later than the
// table does. So everything that the index returns is read again in the table.
// For an account or a session this package also writes a note: a record in the
// table that leads to the user, and that is never late. The note of an account also
// decides whose the account is. Each step writes one item, and may be the last
// before a crash. docs/internals/authjs-layouts.md has the states.
type authJS struct {
	*kvstore.Store // users, in the items of Auth.js, and what Auth.js has no items for

	items    *sharedItems
	users    *userItems
	accounts *accountItems
	sessions *sessionItems
}

// newAuthJS returns the stores on the items of Auth.js in a table, with the usual names
// in place of empty ones in o.Layout. It makes no call.
func newAuthJS(c Client, table string, o Options) *authJS {
	layout := o.Layout.named()
	db := &conn{client: c, table: table, pk: layout.PartitionKey, sk: layout.SortKey, ttl: layout.ttl()}
	conn := userConn{db, layout}
	store := kvstore.New(conn, kvstore.Options{Now: o.Now})
	items := &sharedItems{db, layout}
	users := &userItems{items, store}
	a := &authJS{Store: store, items: items, users: users, accounts: &accountItems{items, users, conn}, sessions: &sessionItems{items, o.Now}}
	if a.sessions.now == nil {
		a.sessions.now = time.Now
	}
	return a
}
