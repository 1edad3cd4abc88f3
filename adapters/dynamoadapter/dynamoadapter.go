package dynamoadapter

import (
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// Options says how an [Adapter] behaves. The zero value is the usual.
type Options struct {
	// Layout says which items the table has. The zero value is the layout of this package.
	Layout Layout

	Now func() time.Time // nil: time.Now
}

// Adapter keeps everything in a table of DynamoDB. It is a [storage.Adapter] with the
// abilities of a [kvstore.Store]. It has no transactions, and remembers sign-ups instead.
// DynamoDB removes what has expired. It is a [storage.SessionStore],
// [storage.RevocationStore], [storage.ReturningLimiter], [storage.ReplayStore] and
// [storage.LeaseStore] as well. Make one with [New]. It is safe for concurrent use.
type Adapter struct {
	stores
	shared bool // Auth.js reads the same items
}

// SharesTokens implements [storage.TokenSharer]. It returns true if the layout is that
// of [AuthJS], since Auth.js reads the same accounts.
func (a *Adapter) SharesTokens() bool { return a.shared }

// stores has the methods of an Adapter in each layout.
type stores interface {
	storage.Adapter
	storage.AccountAdapter
	storage.AuthenticatorAdapter
	storage.SessionAdapter
	storage.SessionStore
	storage.ProviderLogoutAdapter
	storage.SignUpAdapter
	storage.UserDeletionAdapter
	storage.VerificationTokenAdapter
	storage.RevocationStore
	storage.ReturningLimiter
	storage.ReplayStore
	storage.TokenAdapter
	storage.AccountWalker
	storage.LeaseStore
}

// New returns an adapter on a table that [Migrate] has made. It makes no call.
// Credentials, region, retries and time limits are the client's. It returns an error if
// the client is nil, if the name of the table is empty, or if o.Layout cannot be used.
func New(c Client, table string, o Options) (*Adapter, error) {
	if c == nil || table == "" {
		return nil, errors.New("dynamoadapter: a client and the name of a table are needed")
	}
	if err := o.Layout.check(); err != nil {
		return nil, err
	}
	if !o.Layout.authJS {
		return &Adapter{stores: kvstore.New(&conn{client: c, table: table, pk: "pk", sk: "sk", ttl: "ttl"}, kvstore.Options{Now: o.Now})}, nil
	}
	return &Adapter{newAuthJS(c, table, o), true}, nil
}

// DBSystem returns the name of the database for traces.
func (a *Adapter) DBSystem() string { return "aws.dynamodb" }
