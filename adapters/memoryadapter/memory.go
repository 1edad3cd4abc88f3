package memoryadapter

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Options says how an [Adapter] behaves. The zero value is the usual.
type Options struct {
	// PlainTokens keeps session tokens as they are instead of their SHA-256.
	PlainTokens bool
}

// Adapter is a store in memory. Make one with [New]. It is safe for concurrent use:
// calls and transactions take turns.
type Adapter struct {
	plain bool
	turn  chan struct{} // holds one token: its holder may use data
	data  *data
	bound bool // the transaction this adapter is bound to has the turn already

	peopleStores
}

var (
	_ storage.SessionAdapter           = (*Adapter)(nil)
	_ storage.SessionListAdapter       = (*Adapter)(nil)
	_ storage.VerificationTokenAdapter = (*Adapter)(nil)
	_ storage.AccountAdapter           = (*Adapter)(nil)
	_ storage.UserDeletionAdapter      = (*Adapter)(nil)
	_ storage.AuthenticatorAdapter     = (*Adapter)(nil)
	_ storage.TxAdapter                = (*Adapter)(nil)
	_ storage.SignUpAdapter            = (*Adapter)(nil)
	_ storage.SweepAdapter             = (*Adapter)(nil)
	_ storage.RevocationStore          = (*Adapter)(nil)
	_ storage.TokenAdapter             = (*Adapter)(nil)
	_ storage.AccountWalker            = (*Adapter)(nil)
	_ storage.LeaseStore               = (*Adapter)(nil)
	_ storage.SessionRenewalAdapter    = (*Adapter)(nil)
	_ storage.ProviderLogoutAdapter    = (*Adapter)(nil)
	_ storage.FactorAdapter            = (*Adapter)(nil)
	_ storage.ChallengeAdapter         = (*Adapter)(nil)
	_ storage.BrowserAdapter           = (*Adapter)(nil)
	_ storage.PasswordAdapter          = (*Adapter)(nil)
	_ storage.DirectoryAdapter         = (*Adapter)(nil)
	_ storage.SuspensionAdapter        = (*Adapter)(nil)
	_ storage.ActivityAdapter          = (*Adapter)(nil)
	_ storage.AuditAdapter             = (*Adapter)(nil)
)

// New returns an empty store.
func New(o Options) *Adapter {
	a := &Adapter{plain: o.PlainTokens, turn: make(chan struct{}, 1), data: newData()}
	a.peopleStores = peopleStores{a}
	a.turn <- struct{}{}
	return a
}

// InTx implements [storage.TxAdapter]. Transactions run one after the other, and all
// other calls wait meanwhile. f must use the adapter that it gets: a call to the outer
// one waits for f to end, so f must not wait for such a call. If ctx has ended when f
// returns, everything is rolled back, and InTx returns the error of ctx. f is called
// once. The cost of a rollback grows with what f did, not with what the store holds.
func (a *Adapter) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return a.withData(ctx, func(d *data) error {
		mark := len(d.undo)
		committed := false
		defer func() {
			if !committed { // an error, a panic, or runtime.Goexit
				d.rollback(mark)
			}
		}()
		d.depth++
		defer func() { d.depth-- }()
		inner := &Adapter{plain: a.plain, data: d, bound: true}
		inner.peopleStores = peopleStores{inner}
		if err := f(inner); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		committed = true
		return nil
	})
}

// Sweep implements [storage.SweepAdapter]. It removes a lease that expired without
// Release only a day after its expiry.
func (a *Adapter) Sweep(ctx context.Context, before time.Time) (n int, err error) {
	err = a.withData(ctx, func(d *data) error {
		n = removeIf(d, d.sessions, func(_ string, s storage.StoredSession) bool { return s.Expires.Before(before) }) +
			removeIf(d, d.tokens, func(_ pair, t storage.VerificationToken) bool { return t.Expires.Before(before) }) +
			removeIf(d, d.revocations, func(_ string, r revocation) bool { return r.expires.Before(before) }) +
			removeIf(d, d.leases, func(_ string, l lease) bool { return l.until.Add(abandonedFor).Before(before) }) +
			removeIf(d, d.challenges, func(_ string, c storage.Challenge) bool { return c.Expires.Before(before) }) +
			removeIf(d, d.browsers, func(_ pair, b storage.Browser) bool { return b.Expires.Before(before) })
		return nil
	})
	return n, err
}

// withData waits for the turn, calls f and returns the error of f. An adapter that is
// bound to a transaction has the turn already, and f is called at once. If ctx ends
// before f begins, withData returns the error of ctx and does not call f. f must not
// call the adapter.
func (a *Adapter) withData(ctx context.Context, f func(*data) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if a.bound {
		return f(a.data)
	}
	select {
	case <-a.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { a.turn <- struct{}{} }()
	defer func() {
		if a.data.depth == 0 {
			a.data.undo = nil
		}
	}()
	return f(a.data)
}

// DBSystem returns the name of the database for traces.
func (a *Adapter) DBSystem() string { return "memory" }
