package vault

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// flight is one renewal of an account, which several callers may wait for. None of
// them can cancel it.
type flight struct {
	done   chan struct{}
	tokens storage.Tokens
	err    error
}

// wait returns the result of the renewal, or the error of ctx if that ends first. The
// renewal then goes on.
func (f *flight) wait(ctx context.Context) (storage.Tokens, error) {
	select {
	case <-f.done:
		return f.tokens, f.err
	case <-ctx.Done():
		return storage.Tokens{}, ctx.Err()
	}
}

// flightOf returns the renewal of an account that is under way, or nil.
func (v *Vault) flightOf(key accountKey) *flight {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.flights[key]
}

// begin returns the renewal of an account that is under way, or starts one.
func (v *Vault) begin(p *Provider, at *opened) *flight {
	key := at.key()
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.flights[key]; f != nil {
		return f
	}
	f := &flight{done: make(chan struct{})}
	v.flights[key] = f
	v.Later.Start(func() {
		r := &renewal{Vault: v, provider: p, at: at, holder: v.process + secret.RandomHex(8)}
		err := guarded.Contain(func() (err error) { f.tokens, err = r.run(context.Background()); return err })
		f.err = r.explain(err)
		v.mu.Lock()
		delete(v.flights, key)
		v.mu.Unlock()
		close(f.done)
	})
	return f
}

// Wait waits, without a limit, for the renewals and revocations that are under way, and
// for all other work in Config.Later. Tests and programs that end call it.
func (v *Vault) Wait() { v.Later.Wait(context.Background()) }

// renewal is one try to renew the tokens of an account.
type renewal struct {
	*Vault
	provider  *Provider
	at        *opened
	holder    string
	abandoned bool // the lease before ours was abandoned by another holder
	leased    bool
}

// explain returns err as an ErrRefresh, unless it has a type already or is ErrNotFound.
func (r *renewal) explain(err error) error {
	if err == nil || failure.IsTyped(err) || errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return failure.WrapFor(fault.ErrRefresh, r.at.row.Provider, err)
}

// run renews the tokens: lease, read again, call the provider, swap, release. It returns
// the new tokens, or those that another process or a sign-in has stored meanwhile. It
// keeps the lease if the store has not taken the new tokens: storeLater then releases it.
func (r *renewal) run(ctx context.Context) (storage.Tokens, error) {
	newer, err := r.lease(ctx)
	if err != nil || newer != nil {
		return tokensOf(newer), err
	}
	defer func() {
		if r.unsavedOf(r.at.key()) == nil {
			r.release(ctx)
		}
	}()
	if newer, err = r.readNewer(ctx); err != nil || newer != nil {
		return tokensOf(newer), err
	}
	asked, cancel := context.WithTimeout(ctx, r.CallTime)
	defer cancel()
	answer, err := r.provider.Refresh(asked, r.at.tokens)
	if err != nil {
		return r.refused(ctx, err)
	}
	return r.store(ctx, answer)
}

// tokensOf returns the tokens of o in clear, or none if o is nil.
func tokensOf(o *opened) storage.Tokens {
	if o == nil {
		return storage.Tokens{}
	}
	return o.tokens
}

// readNewer reads the row again and returns newer tokens. It returns nil, nil if the row
// has the tokens that this renewal began with. It returns ErrNotFound if the account is
// gone or of another user, ErrTokenKey if its tokens do not open, and the errors of the
// store. It returns ErrReconnect if they belong to another client, if the access token was
// removed, or if the refresh token was and the access token is still the old one. If the
// error is not nil, the caller must not use the tokens.
func (r *renewal) readNewer(ctx context.Context) (*opened, error) {
	row, err := r.Rows.GetAccount(ctx, r.at.row.Provider, r.at.row.ProviderAccountID)
	if err != nil {
		return nil, err
	}
	if row.UserID != r.at.row.UserID {
		return nil, storage.ErrNotFound
	}
	if sameTokens(row.Tokens, r.at.row.Tokens) {
		return nil, nil
	}
	now, err := r.open(row)
	switch {
	case err != nil:
		return nil, err
	case now.tokens.AccessToken == "" || now.tokens.AccessToken == r.at.tokens.AccessToken && now.tokens.RefreshToken == "":
		return nil, reconnect(now, "")
	}
	return now, r.provider.owns(row.Provider, now)
}

// The pauses between two looks at the row while another process renews it.
const (
	firstLook = 50 * time.Millisecond
	mostLook  = 500 * time.Millisecond
)

// lease waits until this renewal has the lease of the grant, and then returns nil, nil.
// If the store has no leases it returns nil, nil at once. While another process has the
// lease, lease looks at the row. If newer tokens are there, lease returns them and takes
// no lease. Its errors are those of the store and of readNewer.
func (r *renewal) lease(ctx context.Context) (*opened, error) {
	if r.Leases == nil {
		return nil, nil
	}
	for {
		given, err := r.takeLease(ctx)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return nil, nil
		case err != nil:
			r.releaseInDoubt(ctx)
			return nil, err
		case given.Held:
			r.leased, r.abandoned = true, given.Abandoned
			return nil, nil
		}
		newer, err := r.awaitOther(ctx, given.Wait)
		if newer != nil || err != nil {
			return newer, err
		}
	}
}

// awaitOther looks at the row until it changes, and returns the newer tokens. It returns
// nil, nil when the lease of the other process, which lasts for left, has ended. Its
// errors are those of readNewer.
func (r *renewal) awaitOther(ctx context.Context, left time.Duration) (*opened, error) {
	end := time.Now().Add(left)
	for pause := firstLook; ; pause = min(2*pause, mostLook) {
		rest := time.Until(end)
		if rest <= 0 {
			return nil, nil
		}
		jittered := pause/2 + rand.N(pause)
		sleep(ctx, min(jittered, rest+time.Millisecond))
		newer, err := r.readNewer(ctx)
		if err != nil || newer != nil {
			return newer, err
		}
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// leaseLife returns how long a lease lasts: longer than everything that is done
// under it.
func (v *Vault) leaseLife() time.Duration { return v.CallTime + 2*v.StoreTime + 5*time.Second }

// takeLease asks once for the lease, or extends the one that this renewal has. It returns
// a lease that is held, or one with a Wait above 0. A store that answers neither has a
// fault, and takeLease returns ErrAdapter: to ask again at once would never end.
func (r *renewal) takeLease(ctx context.Context) (storage.Lease, error) {
	fits := func(l storage.Lease) bool { return l.Held || l.Wait > 0 }
	return guarded.CallFor(ctx, r.Bounds, "Lease", fits, func(ctx context.Context) (storage.Lease, error) {
		return r.Leases.Lease(ctx, r.leaseKey(), r.holder, r.leaseLife())
	})
}

// release releases the lease, if this renewal has one. It logs a failure, after which
// other processes wait until the lease ends.
func (r *renewal) release(ctx context.Context) {
	if !r.leased {
		return
	}
	err := guarded.Do(ctx, r.Bounds, "Release", func(ctx context.Context) error { return r.Leases.Release(ctx, r.leaseKey(), r.holder) })
	if err != nil {
		r.Log.Warn(ctx, "a lease could not be released: other processes wait until it ends", "provider", r.at.row.Provider, "error", err.Error())
	}
}

// releaseTime bounds the release of a lease that may not have been given.
const releaseTime = time.Second

// releaseInDoubt releases a lease that the store may have given although its call failed.
// The caller does no work under it.
func (r *renewal) releaseInDoubt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	r.leased = true
	r.release(ctx)
}

// leaseKey returns the LeaseKey of the account.
func (r *renewal) leaseKey() string {
	return LeaseKey(r.provider.Grant, r.at.row.ProviderAccountID)
}
