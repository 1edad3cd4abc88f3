package tokenjar

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// account is what a cookie keeps of an account.
type account struct {
	provider, id string
	kind         storage.ProviderType
	grant        vault.Grant
	tokens       storage.Tokens
}

// accountOf returns the account that a cookie keeps as h.
func accountOf(h browser.HeldTokens) account {
	a := account{provider: h.Provider, id: h.AccountID, kind: storage.ProviderType(h.Kind), grant: vault.Grant{Issuer: h.Issuer, Client: h.Client}}
	a.tokens = storage.Tokens{AccessToken: h.Access, RefreshToken: h.Refresh, IDToken: h.ID, TokenType: h.Type, Scope: h.Scope}
	a.tokens.ExpiresIn = time.Duration(h.Lifetime) * time.Second
	if h.Expires != 0 {
		a.tokens.ExpiresAt = time.Unix(h.Expires, 0)
	}
	return a
}

// held returns the account in the form that the cookie keeps.
func (a *account) held() browser.HeldTokens {
	t := &a.tokens
	h := browser.HeldTokens{
		Provider: a.provider, AccountID: a.id, Kind: string(a.kind), Issuer: a.grant.Issuer, Client: a.grant.Client,
		Access: t.AccessToken, Refresh: t.RefreshToken, ID: t.IDToken, Type: t.TokenType, Scope: t.Scope, Lifetime: int64(vault.LifetimeOf(t) / time.Second),
	}
	if !t.ExpiresAt.IsZero() {
		h.Expires = t.ExpiresAt.Unix()
	}
	return h
}

// How many rows a process keeps, for how long it knows what a refresh token became, and
// for how long it keeps an access token that says no end.
const (
	mostRows   = 10_000
	becameTime = 2 * time.Minute
	heldTime   = time.Hour
)

// rows are the accounts that browsers have brought lately. A row is known by a hash of
// the refresh token: browsers of one user have grants of their own. It is safe for
// concurrent use.
type rows struct {
	key   []byte // of the hashes
	now   func() time.Time
	moved func(provider, from, to string) // a row has a successor

	mu    sync.Mutex
	known *cache.Cache[string, row]
	inUse map[string]*usedRow // by calls that are under way: these are not evicted
}

// usedRow is a row that n calls use.
type usedRow struct {
	row
	n int
}

// row is an account that a browser has brought.
type row struct {
	of Session
	account
	until time.Time // until then its tokens go before those of the cookie; zero: they do not
}

// newRows returns empty rows. The caller sets moved before it uses them.
func newRows(now func() time.Time) *rows {
	r := &rows{key: make([]byte, 32), now: now, known: cache.New[string, row](cache.Rules{Size: mostRows}), inUse: map[string]*usedRow{}}
	rand.Read(r.key) // never fails
	return r
}

// handle returns the id of the row of an account. It is a hash of the refresh token, or
// else of the access token or of the session.
func (r *rows) handle(of Session, a *account) string {
	proof := "refresh " + a.tokens.RefreshToken
	switch {
	case a.tokens.RefreshToken != "":
	case a.tokens.AccessToken != "":
		proof = "access " + a.tokens.AccessToken
	default:
		proof = "session " + of.ID
	}
	mac := hmac.New(sha256.New, r.key)
	for _, part := range []string{of.Subject, a.provider, a.id, proof} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		mac.Write(length[:])
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// mostSteps bounds how far the successors of a token are followed.
const mostSteps = 16

// newest returns a with the newest tokens that this process knows of it, or a itself.
func (r *rows) newest(of Session, a account) account {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range mostSteps {
		found, ok := r.get(r.handle(of, &a))
		switch {
		case !ok:
			return a
		case found.tokens.RefreshToken != a.tokens.RefreshToken:
			if !r.now().Before(found.until) {
				return a
			}
			a.tokens = found.tokens
		default:
			if r.now().Before(found.until) && !isNewer(&a.tokens, &found.tokens) || isNewer(&found.tokens, &a.tokens) {
				a.tokens = found.tokens
			}
			return a
		}
	}
	return a
}

// isNewer reports whether a has an access token that ends later than that of than. A zero
// ExpiresAt is earlier than any other.
func isNewer(a, than *storage.Tokens) bool {
	return a.AccessToken != "" && a.ExpiresAt.After(than.ExpiresAt)
}

// use makes a row of an account, counts a use of it, and returns its handle. It keeps a
// row with the same refresh token, which may be under renewal, unless the access token of
// a ends later. The caller calls release.
func (r *rows) use(of Session, a account) (handle string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	handle = r.handle(of, &a)
	found, ok := r.get(handle)
	if !ok || found.tokens.RefreshToken != a.tokens.RefreshToken || isNewer(&a.tokens, &found.tokens) {
		found = row{of: of, account: a}
		r.put(handle, found)
	}
	if r.inUse[handle] == nil {
		r.inUse[handle] = &usedRow{row: found}
	}
	r.inUse[handle].n++
	return handle
}

// release ends a use of a row.
func (r *rows) release(handle string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if used := r.inUse[handle]; used.n > 1 {
		used.n--
	} else {
		delete(r.inUse, handle)
	}
}

// get returns a row, and whether there is one. The caller holds the lock.
func (r *rows) get(handle string) (row, bool) {
	if used := r.inUse[handle]; used != nil {
		return used.row, true
	}
	return r.known.Get(handle)
}

// hold remembers whole, the tokens of an account, until the access token among them ends,
// or for an hour if its end is unknown. The cookie keeps the account as a, without that
// access token.
func (r *rows) hold(of Session, a account, whole storage.Tokens) {
	r.mu.Lock()
	defer r.mu.Unlock()
	until := whole.ExpiresAt
	if until.IsZero() {
		until = r.now().Add(heldTime)
	}
	handle := r.handle(of, &a)
	a.tokens = whole
	r.put(handle, row{of, a, until})
}

// put replaces a row, also for calls that use it. The caller holds the lock.
func (r *rows) put(handle string, next row) {
	r.known.Delete(handle)
	r.known.GetOrAdd(handle, next)
	if used := r.inUse[handle]; used != nil {
		used.row = next
	}
}

// GetAccount returns the account of a row by the row's handle, which takes the place of
// the account's id, or ErrNotFound.
func (r *rows) GetAccount(_ context.Context, provider, handle string) (storage.Account, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.get(handle)
	if !ok || found.provider != provider {
		return storage.Account{}, storage.ErrNotFound
	}
	return storage.Account{UserID: found.of.Subject, Provider: provider, ProviderAccountID: handle, Type: found.kind, Tokens: found.tokens}, nil
}

// ListAccounts returns nothing: a row is asked for by its handle.
func (r *rows) ListAccounts(context.Context, string) ([]storage.Account, error) { return nil, nil }

// SwapTokens replaces the tokens of a row, and remembers for two minutes what they
// became. It returns ErrNotFound if the row is unknown, and ErrConflict if its access and
// refresh tokens are not those of old.
func (r *rows) SwapTokens(_ context.Context, provider, handle string, old, next storage.Tokens) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.get(handle)
	switch {
	case !ok || found.provider != provider:
		return storage.ErrNotFound
	case found.tokens.AccessToken != old.AccessToken || found.tokens.RefreshToken != old.RefreshToken:
		return storage.ErrConflict
	}
	found.tokens, found.until = next, r.now().Add(becameTime)
	r.put(handle, found)
	if successor := r.handle(found.of, &found.account); successor != handle {
		r.put(successor, row{of: found.of, account: found.account})
		r.moved(provider, handle, successor)
	}
	return nil
}
