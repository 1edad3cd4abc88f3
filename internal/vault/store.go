package vault

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/storage"
)

// unsaved are tokens that the provider has issued and the store has not taken yet.
// This process serves them from memory.
type unsaved struct {
	old   storage.Tokens // the row as it was read, sealed
	next  storage.Tokens // the row as it shall be, sealed
	clear storage.Tokens // next, in clear
	grant Grant
}

// unsavedOf returns the tokens of an account that the store has not taken yet, or nil.
func (v *Vault) unsavedOf(key accountKey) *unsaved {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unsaved[key]
}

// setUnsaved remembers tokens; nil forgets them.
func (v *Vault) setUnsaved(key accountKey, u *unsaved) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if u == nil {
		delete(v.unsaved, key)
		return
	}
	v.unsaved[key] = u
}

// store puts the answer of a provider into the row, reports event.TokenRefreshed, and
// returns the new tokens. If the store fails, it logs an alert and returns them nevertheless:
// the process keeps them in memory, and storeLater stores them. If the row was changed, store
// puts in what overtaken hands back. If that is nothing, it returns the tokens and the error
// of overtaken, without the event. It returns the error of Keep.
func (r *renewal) store(ctx context.Context, answer storage.Tokens) (storage.Tokens, error) {
	p, now := r.provider, r.Now()
	next := Merge(r.at.tokens, answer, p.Lifetime, now)
	kept, err := p.Keep(next)
	if err != nil {
		return storage.Tokens{}, err
	}
	if !r.Seals.isShared() {
		kept = withLifetimes(kept, next)
	}
	u := &unsaved{old: r.at.row.Tokens, next: r.Seals.sealTokens(r.at.key(), p.Grant, kept), clear: kept, grant: p.Grant}
	r.memoryOf(r.at.key()).resume()
	err = r.swap(ctx, u)
	for tries := 0; isOvertaken(err) && tries < mostJoins; tries++ {
		t, again, failed := r.overtaken(ctx, u)
		if again == nil {
			return t, failed
		}
		if u, err = again, failed; err == nil {
			err = r.swap(ctx, u)
		}
	}
	if err != nil {
		r.alertUnsaved(err)
		r.setUnsaved(r.at.key(), u)
		r.Later.Start(func() { r.storeLater(u) })
	}
	r.tell(ctx, event.Event{Type: event.TokenRefreshed})
	return u.clear, nil
}

// swap puts the tokens of u into the row. It returns storage.ErrConflict if the row has
// changed since it was read, and storage.ErrNotFound if it is gone.
func (r *renewal) swap(ctx context.Context, u *unsaved) error {
	return r.Rows.SwapTokens(ctx, r.at.row.Provider, r.at.row.ProviderAccountID, u.old, u.next)
}

// mostJoins is how often a renewal joins its refresh token with a row that others keep
// changing, before it leaves that to storeLater.
const mostJoins = 3

// isOvertaken reports whether a swap failed because the row was changed or removed.
func isOvertaken(err error) bool {
	return errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound)
}

// overtaken reads a row that was changed before the tokens of u could be stored, and
// returns the tokens that count now. As a rule these are the tokens of the row: those of
// u are dropped and not revoked, because that may end the grant that both belong to.
// again is nil then, and there is nothing left to store.
//
// If a sign-in without a refresh token has changed the row, the row still has the refresh
// token that this renewal has used up. again is then the tokens of the sign-in with the
// refresh token of u, which the caller stores. If the row cannot be read, again is u and
// err is the error of the store.
//
// If the account is gone or of another user, overtaken revokes the tokens of u in the
// background and returns ErrNotFound. If the account was disconnected, it revokes them,
// too, and returns ErrReconnect. It returns ErrTokenKey or ErrReconnect for tokens in the
// row that do not open or belong to another client.
func (r *renewal) overtaken(ctx context.Context, u *unsaved) (t storage.Tokens, again *unsaved, err error) {
	row, err := r.Rows.GetAccount(ctx, r.at.row.Provider, r.at.row.ProviderAccountID)
	gone := errors.Is(err, storage.ErrNotFound) || err == nil && row.UserID != r.at.row.UserID
	switch {
	case gone:
		r.revokeLater(r.provider, r.at.row, u.clear, GrantUnlinked)
		return storage.Tokens{}, nil, storage.ErrNotFound
	case err != nil:
		return storage.Tokens{}, u, err
	case sameTokens(row.Tokens, u.next):
		return u.clear, nil, nil // the swap had succeeded, and its answer was lost
	case row.Tokens.AccessToken == "" && row.Tokens.RefreshToken == "":
		r.revokeLater(r.provider, r.at.row, u.clear, GrantRevoked)
		return storage.Tokens{}, nil, reconnect(r.at, "")
	}
	now, err := r.open(row)
	if err != nil {
		return storage.Tokens{}, nil, err
	}
	err = r.provider.owns(row.Provider, now)
	if used := r.at.tokens.RefreshToken; err == nil && now.tokens.RefreshToken == used && u.clear.RefreshToken != "" && u.clear.RefreshToken != used {
		again = r.join(u, now)
		return again.clear, again, nil
	}
	return now.tokens, nil, err
}

// join returns the tokens of a sign-in with the refresh token of a renewal, to be stored.
// If the sign-in has stored no access token, these are the tokens of u.
func (r *renewal) join(u *unsaved, signIn *opened) *unsaved {
	t := u.clear
	if signIn.tokens.AccessToken != "" {
		t = signIn.tokens
		t.RefreshToken = u.clear.RefreshToken
	}
	return &unsaved{old: signIn.row.Tokens, next: r.Seals.sealTokens(r.at.key(), r.provider.Grant, t), clear: t, grant: u.grant}
}

// The pauses between two tries to store tokens, and for how long they are tried.
const (
	firstTry  = 100 * time.Millisecond
	mostTry   = 5 * time.Second
	storeTime = 5 * time.Minute
)

// storeLater tries to store tokens that the store has not taken, and keeps the lease
// until then. It logs an alert for each try that fails. It gives up after storeTime, and
// the tokens are lost. In the end it forgets the tokens in memory and releases the lease.
func (r *renewal) storeLater(u *unsaved) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	defer func() {
		r.setUnsaved(r.at.key(), nil)
		r.release(context.Background())
	}()
	for pause := firstTry; ctx.Err() == nil; pause = min(2*pause, mostTry) {
		sleep(ctx, pause)
		if r.leased {
			_, _ = r.takeLease(ctx) // extends the lease; if the store fails, swap fails, too
		}
		err := r.swap(ctx, u)
		switch {
		case err == nil:
			return
		case isOvertaken(err):
			_, again, failed := r.overtaken(ctx, u)
			if again == nil {
				return
			}
			r.setUnsaved(r.at.key(), again)
			if u, err = again, failed; err == nil {
				continue
			}
		}
		r.alertUnsaved(err)
	}
}

// alertUnsaved logs an alert that the store has not taken new tokens because of err.
func (r *renewal) alertUnsaved(err error) {
	r.Log.Alert("renewed tokens could not be stored: they are kept in memory, and the refresh token in the store may be dead",
		"provider", r.at.row.Provider, "user", r.at.row.UserID, "error", textOf(err, r.at.tokens))
}

// refused returns the error of a renewal that the provider refused with err. If the grant
// has ended, it returns what disconnect returns, which may be newer tokens. It returns
// ErrReconnect if the user has to sign in at the provider. Otherwise it returns
// ErrRefresh and begins a pause, and if the client is misconfigured it logs an alert.
func (r *renewal) refused(ctx context.Context, err error) (storage.Tokens, error) {
	a := answerOf(err, r.provider.Refused)
	cause := &fault.TokenError{Code: a.code, RetryAfter: a.wait, Err: hide(err, r.at.tokens)}
	switch a.kind {
	case grantEnded:
		return r.disconnect(ctx, cause)
	case needsPerson:
		return storage.Tokens{}, failure.WrapFor(fault.ErrReconnect, r.at.row.Provider, cause)
	case misconfigured:
		r.Log.Alert("the provider refuses to renew tokens: check the client id, its secret and its scopes",
			"provider", r.at.row.Provider, "error", textOf(err, r.at.tokens))
	}
	failed := failure.WrapFor(fault.ErrRefresh, r.at.row.Provider, cause)
	r.memoryOf(r.at.key()).pauseAfter(failed, a.wait, r.Now())
	return storage.Tokens{}, failed
}

// disconnect removes a refresh token that the provider refuses from the row, reports
// event.TokenDisconnected, and returns ErrReconnect with cause. If the row has newer
// tokens by now, it returns these instead and changes nothing. Other errors are those of
// the store and of readNewer.
func (r *renewal) disconnect(ctx context.Context, cause *fault.TokenError) (storage.Tokens, error) {
	newer, err := r.readNewer(ctx)
	if newer != nil || err != nil {
		return tokensOf(newer), err
	}
	next := r.at.row.Tokens
	next.RefreshToken = ""
	err = r.Rows.SwapTokens(ctx, r.at.row.Provider, r.at.row.ProviderAccountID, r.at.row.Tokens, next)
	switch {
	case errors.Is(err, storage.ErrConflict):
		if newer, err = r.readNewer(ctx); newer != nil || err != nil {
			return tokensOf(newer), err
		}
	case err != nil:
		return storage.Tokens{}, err
	default:
		detail := GrantRefused
		if r.abandoned {
			detail = GrantLost
		}
		r.tell(ctx, event.Event{Type: event.TokenDisconnected, Detail: fault.Detail(detail), Err: cause})
	}
	return storage.Tokens{}, failure.WrapFor(fault.ErrReconnect, r.at.row.Provider, cause)
}

// textOf returns the text of an error without the tokens that it may repeat.
func textOf(err error, t storage.Tokens) string {
	return redact.Text(err.Error(), []string{t.AccessToken, t.RefreshToken, t.IDToken}, journal.LongestText)
}

// hide returns err with a text that repeats no token, or nil if err is nil.
func hide(err error, t storage.Tokens) error {
	if err == nil {
		return nil
	}
	return &failure.Redacted{Text: textOf(err, t), Cause: err}
}

// tell reports an event of the account.
func (r *renewal) tell(ctx context.Context, e event.Event) { r.tellOf(ctx, &r.at.row, e) }

// tellOf reports an event of an account, with its user and provider, if there is a
// function for events.
func (v *Vault) tellOf(ctx context.Context, row *storage.Account, e event.Event) {
	if v.Tell == nil {
		return
	}
	e.UserID, e.Provider, e.ProviderType = row.UserID, row.Provider, row.Type
	v.Tell(context.WithoutCancel(ctx), e)
}
