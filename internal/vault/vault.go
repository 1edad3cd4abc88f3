package vault

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/later"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Rows reads accounts and swaps their tokens, as package storage has it. Every call
// has a deadline.
type Rows interface {
	GetAccount(ctx context.Context, provider, id string) (storage.Account, error)
	ListAccounts(ctx context.Context, userID string) ([]storage.Account, error)
	SwapTokens(ctx context.Context, provider, id string, old, next storage.Tokens) error
}

// Config is what a [Vault] works with.
type Config struct {
	Rows       Rows
	Leases     storage.LeaseStore   // nil: each process renews by itself
	Bounds     *guarded.Bounds      // of the calls of Leases
	Seals      *Seals               // how tokens are stored
	Providers  map[string]*Provider // by id
	Log        *journal.Logger
	Now        func() time.Time
	Early      time.Duration // renew this long before expiry, at most a fifth of the lifetime
	Foreground bool          // callers wait for early renewals
	CallTime   time.Duration // of all calls to the provider that a renewal makes
	StoreTime  time.Duration // of one call of the store
	KeepGrants bool          // do not revoke at the provider

	HTTP http.RoundTripper // of the clients that carry a token

	// Later runs renewals and revocations that callers do not wait for; nil: a pool of
	// the vault's own.
	Later *later.Pool

	// Tell gets the events.
	Tell func(ctx context.Context, e event.Event)
}

// Provider is how a vault renews and revokes the tokens of one provider.
type Provider struct {
	Grant    Grant
	Prefix   string        // begins the ids of the tenant's accounts; empty: there are no tenants
	Refused  []string      // error codes that mean what invalid_grant means
	Lifetime time.Duration // of access tokens whose answer names none; 0: unknown
	// ByAccessToken renews a valid access token without a refresh token.
	ByAccessToken bool

	// Refresh asks the provider for new tokens. It checks a new ID token, and leaves
	// one out that it cannot compare with the former one. Its errors are those of
	// package oauth.
	Refresh func(ctx context.Context, former storage.Tokens) (storage.Tokens, error)
	// Revoke ends tokens at the provider; nil: the provider cannot.
	Revoke func(ctx context.Context, t storage.Tokens) error
	// Keep chooses what is stored.
	Keep func(t storage.Tokens) (storage.Tokens, error)
}

// Vault returns tokens that can be used, and renews them if necessary. It is safe
// for concurrent use.
type Vault struct {
	Config
	process string // begins the names of lease holders

	mu       sync.Mutex
	flights  map[accountKey]*flight
	unsaved  map[accountKey]*unsaved
	memories *cache.Cache[accountKey, *memory]
}

// accountKey names an account.
type accountKey struct{ provider, id string }

// rememberedAccounts is for how many accounts a process remembers failures.
const rememberedAccounts = 10_000

// New returns a vault. A field of c that gives no meaning to nil or zero has to be set.
func New(c Config) *Vault {
	c.Later = cmp.Or(c.Later, new(later.Pool))
	return &Vault{
		Config: c, process: secret.RandomHex(8),
		flights: map[accountKey]*flight{}, unsaved: map[accountKey]*unsaved{},
		memories: cache.New[accountKey, *memory](cache.Rules{Size: rememberedAccounts}),
	}
}

// Ref names an account of a user. An empty AccountID is the only account that the
// user has at the provider.
type Ref struct{ UserID, Provider, AccountID string }

// Options are what a caller needs of an access token. The zero Options ask for a token
// that lasts 5 seconds.
type Options struct {
	Scopes   []string      // needed
	Rejected string        // an access token that an API has refused
	MinLife  time.Duration // the token must last this long; 0: 5 s
	Wait     bool          // wait for early renewals
	ReadOnly bool          // a renewed token could not be stored: make no request
}

// defaultMinLife is how long a returned token lasts at least.
const defaultMinLife = 5 * time.Second

// opened is an account with its tokens in clear.
type opened struct {
	row    storage.Account // as it is stored
	tokens storage.Tokens
	grant  Grant // zero: the row is plain
}

func (o *opened) key() accountKey { return accountKey{o.row.Provider, o.row.ProviderAccountID} }

// AccessToken returns the tokens of an account with a usable access token, and without
// the refresh token and the ID token. If the stored access token lasts less than o.MinLife,
// or is o.Rejected, AccessToken waits for a new one. If it expires soon, AccessToken returns
// it and renews it in the background, or waits with Foreground or o.Wait. A renewal reports
// event.TokenRefreshed or event.TokenDisconnected. A token that lasts long enough costs one
// call of the store.
//
// With o.ReadOnly nothing is renewed: a token that would have to be renewed is ErrRefresh,
// or ErrReconnect if it cannot be. Beside the errors of Find and of ctx AccessToken returns
// ErrInvalidProvider, ErrScopeMissing, ErrTokenKey, ErrReconnect and ErrRefresh.
func (v *Vault) AccessToken(ctx context.Context, of Ref, o Options) (storage.Tokens, error) {
	p := v.Providers[of.Provider]
	if p == nil {
		return storage.Tokens{}, failure.WrapFor(fault.ErrInvalidProvider, of.Provider, errors.New("no configured OAuth provider has this id"))
	}
	row, err := v.Find(ctx, of)
	if err != nil {
		return storage.Tokens{}, err
	}
	if missing := missingScopes(row.Tokens.Scope, o.Scopes); len(missing) > 0 {
		return storage.Tokens{}, failure.WrapFor(fault.ErrScopeMissing, of.Provider, &fault.TokenError{Missing: missing})
	}
	at, err := v.open(row)
	if err != nil {
		return storage.Tokens{}, err
	}
	if err := p.owns(of.Provider, at); err != nil {
		return storage.Tokens{}, err
	}
	t, err := v.choose(ctx, p, at, o)
	t.RefreshToken, t.IDToken = "", ""
	return t, err
}

// holds reports whether an account belongs to the tenant of p, by the prefix of its id. A
// nil Provider, and one without a Prefix, holds every account.
func (p *Provider) holds(accountID string) bool {
	return p == nil || strings.HasPrefix(accountID, p.Prefix)
}

// owns returns ErrReconnect unless the account belongs to the tenant of p, and its tokens
// to the client that is configured now. A plain row names no client and passes. A token
// of another client must never be sent. id is the id of the provider, for the error.
func (p *Provider) owns(id string, at *opened) error {
	if p.holds(at.row.ProviderAccountID) && (at.grant == (Grant{}) || at.grant == p.Grant) {
		return nil
	}
	return failure.WrapFor(fault.ErrReconnect, id, &fault.TokenError{Code: "other_client"})
}

// Find returns the account with its tokens as they are stored. It returns
// storage.ErrNotFound if the user has no such account, also for an account of another
// user or of another tenant. Without an AccountID it returns ErrAmbiguousAccount if the
// user has several accounts at the provider. Other errors are those of the store.
func (v *Vault) Find(ctx context.Context, of Ref) (storage.Account, error) {
	p := v.Providers[of.Provider]
	if of.AccountID != "" {
		row, err := v.Rows.GetAccount(ctx, of.Provider, of.AccountID)
		if err == nil && (row.UserID != of.UserID || !p.holds(row.ProviderAccountID)) {
			return storage.Account{}, storage.ErrNotFound
		}
		return row, err
	}
	rows, err := v.Rows.ListAccounts(ctx, of.UserID)
	if err != nil {
		return storage.Account{}, err
	}
	var found []storage.Account
	for _, row := range rows {
		if row.Provider == of.Provider && p.holds(row.ProviderAccountID) {
			found = append(found, row)
		}
	}
	switch len(found) {
	case 0:
		return storage.Account{}, storage.ErrNotFound
	case 1:
		return found[0], nil
	}
	return storage.Account{}, fault.ErrAmbiguousAccount
}

// open returns an account with its tokens in clear. Tokens that this process has renewed
// and not yet stored take the place of those in the row. An error is ErrTokenKey.
func (v *Vault) open(row storage.Account) (*opened, error) {
	at := &opened{row: row}
	if held := v.unsavedOf(at.key()); held != nil && sameTokens(row.Tokens, held.old) {
		at.tokens, at.grant = held.clear, held.grant
		return at, nil
	}
	var err error
	at.tokens, at.grant, err = v.Seals.openTokens(accountKey{row.Provider, row.ProviderAccountID}, row.Tokens)
	return at, err
}

// openTokens returns tokens in clear, and the grant that they belong to. The grant is
// zero if all of them are plain. An error is ErrTokenKey.
func (s *Seals) openTokens(of accountKey, t storage.Tokens) (storage.Tokens, Grant, error) {
	var grant Grant
	for _, f := range sealedFields(&t) {
		token, g, err := s.Open(Place{of.provider, of.id, f.name}, *f.value)
		if err != nil {
			return storage.Tokens{}, grant, err
		}
		if *f.value = token; g != (Grant{}) {
			grant = g
		}
	}
	return t, grant, nil
}

// sealTokens returns a copy of t with the access, refresh and ID token as Seal returns
// them.
func (s *Seals) sealTokens(of accountKey, g Grant, t storage.Tokens) storage.Tokens {
	for _, f := range sealedFields(&t) {
		*f.value = s.Seal(Place{of.provider, of.id, f.name}, g, *f.value)
	}
	return t
}

// field is a field of tokens that is sealed.
type field struct {
	name  string
	value *string
}

// sealedFields returns the fields of t that are sealed. Their values point into t.
func sealedFields(t *storage.Tokens) [3]field {
	return [3]field{{"access_token", &t.AccessToken}, {"refresh_token", &t.RefreshToken}, {"id_token", &t.IDToken}}
}

// sameTokens reports whether two rows hold the same access and refresh token, in the form
// in which they are stored.
func sameTokens(a, b storage.Tokens) bool {
	return a.AccessToken == b.AccessToken && a.RefreshToken == b.RefreshToken
}
