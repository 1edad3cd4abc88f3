package dynamoadapter

import (
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// Options says how an [Adapter] behaves. The zero value is the usual.
type Options struct {
	Now func() time.Time // nil: time.Now
}

// Adapter is a table of DynamoDB as a store of everything. Make one with [New].
// It is safe for concurrent use.
type Adapter struct{ *kvstore.Store }

// New returns an adapter on a table that [Migrate] has made. It makes no call.
// Credentials, region, retries and time limits are the client's.
func New(c Client, table string, o Options) (*Adapter, error) {
	if c == nil || table == "" {
		return nil, errors.New("dynamoadapter: a client and the name of a table are needed")
	}
	return &Adapter{kvstore.New(&conn{c, table}, kvstore.Options{Now: o.Now})}, nil
}
