package vault_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// rotation is how a provider treats refresh tokens.
type rotation string

const (
	never  rotation = "none"
	fresh  rotation = "new"    // hands out new ones, old ones stay good
	once   rotation = "once"   // a second use ends the grant
	window rotation = "window" // the one before stays good
)

// issuer is a provider in memory.
type issuer struct {
	rotation rotation
	life     time.Duration // of access tokens; 0: not said
	delay    time.Duration // before an answer

	mu       sync.Mutex
	n        int      // tokens issued so far
	refresh  []string // issued refresh tokens, the newest last
	ended    bool     // the grant
	requests int
	busy     int // requests under way
	most     int // and the most at one time
	fail     func() error
	answer   func(t *storage.Tokens)
	revoked  []string
	revoking func() error
}

// grant begins a grant and returns the tokens of a sign-in.
func (i *issuer) grant(now time.Time) storage.Tokens {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = false
	i.n++
	i.refresh = []string{"refresh-" + strconv.Itoa(i.n)}
	return i.tokens(now)
}

func (i *issuer) tokens(now time.Time) storage.Tokens {
	t := storage.Tokens{AccessToken: "access-" + strconv.Itoa(i.n), RefreshToken: i.refresh[len(i.refresh)-1], TokenType: "bearer", Scope: "one two"}
	if i.life > 0 {
		t.ExpiresIn, t.ExpiresAt = i.life, now.Add(i.life)
	}
	return t
}

func (i *issuer) begin() func() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.requests++
	i.busy++
	i.most = max(i.most, i.busy)
	return i.fail
}

// renew is the token endpoint.
func (i *issuer) renew(ctx context.Context, former storage.Tokens) (storage.Tokens, error) {
	fail := i.begin()
	defer func() { i.mu.Lock(); i.busy--; i.mu.Unlock() }()
	if i.delay > 0 {
		select {
		case <-time.After(i.delay):
		case <-ctx.Done():
			return storage.Tokens{}, &oauth.StepError{Step: oauth.StepToken, Err: ctx.Err()}
		}
	}
	if fail != nil {
		if err := fail(); err != nil {
			return storage.Tokens{}, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.accepts(former.RefreshToken) {
		return storage.Tokens{}, refusal("invalid_grant", 400)
	}
	i.n++
	if i.rotation != never {
		i.refresh = append(i.refresh, "refresh-"+strconv.Itoa(i.n))
	}
	t := i.tokens(time.Now())
	if i.rotation == never {
		t.RefreshToken = ""
	}
	if i.answer != nil {
		i.answer(&t)
	}
	return t, nil
}

// accepts spends a refresh token.
func (i *issuer) accepts(token string) bool {
	if i.ended || token == "" {
		return false
	}
	newest := i.refresh[len(i.refresh)-1]
	switch {
	case token == newest, i.rotation == fresh && strings.HasPrefix(token, "refresh-"):
		return true
	case i.rotation == window && len(i.refresh) > 1 && token == i.refresh[len(i.refresh)-2]:
		i.refresh = i.refresh[:len(i.refresh)-1]
		return true
	}
	i.ended = i.rotation == once
	return false
}

// hasEnded reports whether the provider has ended the grant.
func (i *issuer) hasEnded() bool { i.mu.Lock(); defer i.mu.Unlock(); return i.ended }

func (i *issuer) revoke(ctx context.Context, t storage.Tokens) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.revoking != nil {
		if err := i.revoking(); err != nil {
			return err
		}
	}
	i.revoked = append(i.revoked, t.RefreshToken)
	return nil
}

func (i *issuer) count() int { i.mu.Lock(); defer i.mu.Unlock(); return i.requests }

func refusal(code string, status int) error {
	return &oauth.ResponseError{Step: oauth.StepToken, Status: status, Code: code}
}

// rows is a store whose calls can be made to fail or to wait.
type rows struct {
	*memoryadapter.Adapter
	before func(call string) error // nil: nothing happens
	read   func()                  // after GetAccount; nil: nothing happens
}

func (r *rows) try(call string) error {
	if r.before == nil {
		return nil
	}
	return r.before(call)
}

func (r *rows) GetAccount(ctx context.Context, provider, id string) (storage.Account, error) {
	if err := r.try("GetAccount"); err != nil {
		return storage.Account{}, err
	}
	row, err := r.Adapter.GetAccount(ctx, provider, id)
	if r.read != nil {
		r.read()
	}
	return row, err
}

func (r *rows) SwapTokens(ctx context.Context, provider, id string, old, next storage.Tokens) error {
	if err := r.try("SwapTokens"); err != nil {
		return err
	}
	return r.Adapter.SwapTokens(ctx, provider, id, old, next)
}

func (r *rows) Lease(ctx context.Context, key, holder string, life time.Duration) (storage.Lease, error) {
	if err := r.try("Lease"); err != nil {
		return storage.Lease{}, err
	}
	return r.Adapter.Lease(ctx, key, holder, life)
}

// world is a provider, a store and the processes that use them.
type world struct {
	t      *testing.T
	issuer *issuer
	store  *rows
	user   storage.User
	log    *logBuffer

	mu     sync.Mutex
	events []event.Event
}

type logBuffer struct {
	mu sync.Mutex
	strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.String()
}

var _ io.Writer = (*logBuffer)(nil)

var theGrant = vault.Grant{Issuer: "https://issuer.example", Client: "client"}

func newWorld(t *testing.T, r rotation) *world {
	t.Helper()
	w := &world{t: t, issuer: &issuer{rotation: r, life: time.Hour}, store: &rows{Adapter: memoryadapter.New(memoryadapter.Options{})}, log: &logBuffer{}}
	u, err := w.store.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	w.user = u
	return w
}

// process returns a vault as one process has it.
func (w *world) process(change ...func(*vault.Config)) *vault.Vault {
	w.t.Helper()
	log := journal.New(slog.New(slog.NewTextHandler(w.log, nil)), time.Now, journal.Rules{})
	bounds := &guarded.Bounds{Timeout: 10 * time.Second, Log: log}
	seals, err := vault.NewSeals([]string{"a secret of 32 characters or more"}, false)
	if err != nil {
		w.t.Fatal(err)
	}
	c := vault.Config{
		Rows: w.store, Leases: w.store, Bounds: bounds, Seals: seals, Log: log, Now: time.Now,
		Providers: map[string]*vault.Provider{"acme": {
			Grant: theGrant, Refresh: w.issuer.renew, Revoke: w.issuer.revoke,
			Keep: func(t storage.Tokens) (storage.Tokens, error) { t.ExpiresIn = 0; return t, nil },
		}},
		Early: time.Minute, CallTime: 10 * time.Second, StoreTime: 10 * time.Second,
		Tell: func(_ context.Context, e event.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		},
	}
	for _, f := range change {
		f(&c)
	}
	return vault.New(c)
}

// connect stores an account with fresh tokens.
func (w *world) connect(v *vault.Vault, id string) storage.Account {
	w.t.Helper()
	t := w.issuer.grant(time.Now())
	row := storage.Account{UserID: w.user.ID, Provider: "acme", ProviderAccountID: id, Type: storage.TypeOAuth}
	row.Tokens = v.ForRow("acme", id, t, t)
	if err := w.store.LinkAccount(w.t.Context(), row); err != nil {
		w.t.Fatal(err)
	}
	return w.row(id)
}

func (w *world) row(id string) storage.Account {
	w.t.Helper()
	row, err := w.store.Adapter.GetAccount(w.t.Context(), "acme", id)
	if err != nil {
		w.t.Fatal(err)
	}
	return row
}

// ask asks for an access token of account 1.
func (w *world) ask(v *vault.Vault, o ...vault.Options) (storage.Tokens, error) {
	o = append(o, vault.Options{})
	return v.AccessToken(w.t.Context(), vault.Ref{UserID: w.user.ID, Provider: "acme", AccountID: "1"}, o[0])
}

// told returns the events of a type, by their details.
func (w *world) told(typ event.Type) (details []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Type == typ {
			details = append(details, string(e.Detail))
		}
	}
	return details
}

var errDown = errors.New("the store is down")
