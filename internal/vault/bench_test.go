package vault_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// BenchmarkAccessToken compares a valid token with what cannot be avoided: reading the
// account, and opening the seal of its access token. The vault opens that of the refresh
// token, too.
func BenchmarkAccessToken(b *testing.B) {
	store := memoryadapter.New(memoryadapter.Options{})
	u, err := store.CreateUser(b.Context(), storage.User{Email: "ada@example.com"})
	if err != nil {
		b.Fatal(err)
	}
	s := seals(b, false, newer)
	v := vault.New(vault.Config{
		Rows: store, Seals: s, Now: time.Now, Early: time.Minute,
		Providers: map[string]*vault.Provider{"acme": {Grant: theGrant}},
	})
	tokens := storage.Tokens{AccessToken: "access", RefreshToken: "refresh", Scope: "one two", ExpiresAt: time.Now().Add(24 * time.Hour), ExpiresIn: 24 * time.Hour}
	row := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth, Tokens: v.ForRow("acme", "1", tokens, tokens)}
	if err := store.LinkAccount(b.Context(), row); err != nil {
		b.Fatal(err)
	}
	b.Run("by hand", func(b *testing.B) {
		for b.Loop() {
			row, err := store.GetAccount(b.Context(), "acme", "1")
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range [...]struct{ name, value string }{{"access_token", row.Tokens.AccessToken}, {"refresh_token", row.Tokens.RefreshToken}} {
				if _, _, err := s.Open(vault.Place{Provider: "acme", AccountID: "1", Field: f.name}, f.value); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("AccessToken", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.AccessToken(b.Context(), vault.Ref{UserID: u.ID, Provider: "acme", AccountID: "1"}, vault.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// answering is a transport that answers at once.
type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// oneHeader is a transport that sets one header.
type oneHeader struct{ base http.RoundTripper }

func (t oneHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer access")
	return t.base.RoundTrip(out)
}

// BenchmarkProviderClient compares a client that has a token with a transport that sets
// one header.
func BenchmarkProviderClient(b *testing.B) {
	token := storage.Tokens{AccessToken: "access", ExpiresAt: time.Now().Add(24 * time.Hour)}
	for _, c := range []struct {
		name string
		base http.RoundTripper
	}{
		{"one header", oneHeader{answering{}}},
		{"ProviderClient", &vault.Transport{
			Base: answering{}, Now: time.Now,
			Token: func(context.Context, string) (storage.Tokens, error) { return token, nil },
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://api.example/", nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := c.base.RoundTrip(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCallersAtExpiry has 1,000 callers ask for a token that has expired, in one
// process and in four. It reports the token requests, and the time until all have the
// token as a multiple of what the provider takes for one.
func BenchmarkCallersAtExpiry(b *testing.B) {
	const callers, provider = 1000, 20 * time.Millisecond
	for _, processes := range []int{1, 4} {
		b.Run(strconv.Itoa(processes), func(b *testing.B) {
			h := newHerd(b, processes, func() { time.Sleep(provider) })
			var requests, took float64
			n := 0
			for b.Loop() {
				h.expire(-time.Minute)
				before := h.requests.Load()
				began := time.Now()
				h.askAll(callers)
				took += float64(time.Since(began))
				requests += float64(h.requests.Load() - before)
				n++
			}
			b.ReportMetric(requests/float64(n), "requests")
			b.ReportMetric(took/float64(n)/float64(provider), "x-provider")
		})
	}
}

// BenchmarkCallersInsideEarly has 1,000 callers ask for a token that is about to expire,
// while the provider hangs. It reports the longest wait, and that of 1,000 callers who
// read the account by hand.
func BenchmarkCallersInsideEarly(b *testing.B) {
	const callers = 1000
	hang := make(chan struct{})
	h := newHerd(b, 1, func() { <-hang })
	b.Cleanup(func() { close(hang) })
	h.expire(30 * time.Second)
	var ours, bare time.Duration
	n := 0
	for b.Loop() {
		ours += h.askAll(callers)
		bare += longest(callers, func(int) error {
			_, err := h.store.GetAccount(b.Context(), "acme", "1")
			return err
		}, b)
		n++
	}
	b.ReportMetric(float64(ours)/float64(n), "ns-ours")
	b.ReportMetric(float64(bare)/float64(n), "ns-bare")
}

// herd is several processes that share an account.
type herd struct {
	b        *testing.B
	store    *memoryadapter.Adapter
	vaults   []*vault.Vault
	user     storage.User
	requests atomic.Int64
}

func newHerd(b *testing.B, processes int, answer func()) *herd {
	b.Helper()
	h := &herd{b: b, store: memoryadapter.New(memoryadapter.Options{})}
	var err error
	if h.user, err = h.store.CreateUser(b.Context(), storage.User{Email: "ada@example.com"}); err != nil {
		b.Fatal(err)
	}
	log := journal.New(slog.New(slog.DiscardHandler), time.Now, journal.Rules{})
	for range processes {
		h.vaults = append(h.vaults, vault.New(vault.Config{
			Rows: h.store, Leases: h.store, Seals: seals(b, false, newer), Now: time.Now, Early: time.Minute, Log: log,
			Bounds: &guarded.Bounds{Timeout: time.Minute, Log: log}, CallTime: time.Minute, StoreTime: time.Minute,
			Providers: map[string]*vault.Provider{"acme": {
				Grant: theGrant, Keep: func(t storage.Tokens) (storage.Tokens, error) { return t, nil },
				Refresh: func(context.Context, storage.Tokens) (storage.Tokens, error) {
					n := h.requests.Add(1)
					answer()
					return storage.Tokens{AccessToken: "access " + strconv.FormatInt(n, 10), RefreshToken: "refresh " + strconv.FormatInt(n, 10), ExpiresIn: time.Hour, ExpiresAt: time.Now().Add(time.Hour)}, nil
				},
			}},
		}))
	}
	return h
}

// expire stores tokens that end in some time.
func (h *herd) expire(in time.Duration) {
	h.b.Helper()
	t := storage.Tokens{AccessToken: rand.Text(), RefreshToken: rand.Text(), ExpiresIn: time.Hour, ExpiresAt: time.Now().Add(in)}
	row := storage.Account{UserID: h.user.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth, Tokens: h.vaults[0].ForRow("acme", "1", t, t)}
	_, _ = h.store.UnlinkAccount(h.b.Context(), "acme", "1")
	if err := h.store.LinkAccount(h.b.Context(), row); err != nil {
		h.b.Fatal(err)
	}
}

// askAll has callers ask at once, and returns the longest wait.
func (h *herd) askAll(callers int) time.Duration {
	return longest(callers, func(i int) error {
		_, err := h.vaults[i%len(h.vaults)].AccessToken(h.b.Context(), vault.Ref{UserID: h.user.ID, Provider: "acme", AccountID: "1"}, vault.Options{})
		return err
	}, h.b)
}

// longest runs f for each caller at once, and returns what the slowest took.
func longest(callers int, f func(i int) error, b *testing.B) time.Duration {
	b.Helper()
	took := make([]time.Duration, callers)
	for _, err := range race.Run(callers, func(i int) error {
		began := time.Now()
		err := f(i)
		took[i] = time.Since(began)
		return err
	}) {
		if err != nil {
			b.Fatal(err)
		}
	}
	return slices.Max(took)
}
