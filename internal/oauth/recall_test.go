package oauth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/testclock"
)

func TestR225ColdStartIsOneFetch(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	token := f.idToken(nil)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			<-start
			if _, err := c.AuthorizationURL(context.Background(), AuthRequest{}); err != nil {
				t.Error(err)
			}
			if _, err := c.VerifyIDToken(context.Background(), token, IDTokenCheck{}); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	if d, k := f.hits(discoveryPath), f.hits(keysPath); d != 1 || k != 1 {
		t.Errorf("%d discovery and %d key requests, want 1 and 1", d, k)
	}
}

func TestR225OneCallersHasteIsNobodyElsesLoss(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	asked, release := make(chan struct{}), make(chan struct{})
	f.answer(discoveryPath, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-release
		sendJSON(w, 200, map[string]any{"issuer": f.URL, "authorization_endpoint": f.URL + "/authorize"})
	})
	hasty, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := c.Discover(hasty)
		first <- err
	}()
	<-asked
	second := make(chan error)
	go func() {
		_, err := c.Discover(context.Background())
		second <- err
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the hasty one got %v", err)
	}
	close(release)
	if err := <-second; err != nil {
		t.Errorf("the patient one got %v", err)
	}
	if n := f.hits(discoveryPath); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// steps drives a client's discovery along a clock.
type steps struct {
	t  *testing.T
	f  *fake
	c  *Client
	at *testclock.Clock
}

func newSteps(t *testing.T, rules *Cache) *steps {
	f, at := newFake(t), testclock.New(time.Now())
	return &steps{t: t, f: f, at: at, c: f.client(t, func(c *Config) { c.Time, c.Cache = at.Now, rules })}
}

// after moves the clock, asks, and compares the outcome and the requests so
// far.
func (s *steps) after(d time.Duration, ok bool, requests int) {
	s.t.Helper()
	s.at.Advance(d)
	if _, err := s.c.Discover(s.t.Context()); (err == nil) != ok {
		s.t.Errorf("after another %v: got %v, want success = %v", d, err, ok)
	}
	if n := s.f.hits(discoveryPath); n != requests {
		s.t.Errorf("after another %v: %d requests, want %d", d, n, requests)
	}
}

func (s *steps) cacheHeader(name, value string) {
	s.f.answer(discoveryPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(name, value)
		sendJSON(w, 200, map[string]any{"issuer": s.f.URL})
	})
}

func TestR226SuccessIsRemembered(t *testing.T) {
	const second = time.Second
	t.Run("R-226 an hour when nothing is said", func(t *testing.T) {
		s := newSteps(t, nil)
		s.after(0, true, 1)
		s.after(time.Hour-second, true, 1)
		s.after(second, true, 2)
	})
	t.Run("R-226 as long as the answer says", func(t *testing.T) {
		s := newSteps(t, nil)
		s.cacheHeader("Cache-Control", "public, Max-Age=7200")
		s.after(0, true, 1)
		s.after(2*time.Hour-second, true, 1)
		s.after(second, true, 2)
	})
	t.Run("R-226 until Expires", func(t *testing.T) {
		s := newSteps(t, nil)
		s.cacheHeader("Expires", s.at.Now().Add(2*time.Hour).UTC().Format(http.TimeFormat))
		s.after(0, true, 1)
		s.after(2*time.Hour-2*second, true, 1)
		s.after(2*second, true, 2)
	})
	for _, value := range []string{"no-store", "max-age=0", "no-cache", "max-age=1, private"} {
		t.Run("R-226 five minutes at least: "+value, func(t *testing.T) {
			s := newSteps(t, nil)
			s.cacheHeader("Cache-Control", value)
			s.after(0, true, 1)
			s.after(5*time.Minute-second, true, 1)
			s.after(second, true, 2)
		})
	}
	t.Run("R-226 a day at most", func(t *testing.T) {
		s := newSteps(t, nil)
		s.cacheHeader("Cache-Control", "max-age=2000000000")
		s.after(0, true, 1)
		s.after(24*time.Hour-second, true, 1)
		s.after(second, true, 2)
	})
}

func TestR226FailureIsRememberedForAWhile(t *testing.T) {
	s := newSteps(t, nil)
	s.f.answer(discoveryPath, send(503, "", ""))
	requests := 1
	s.after(0, false, requests)
	for _, pause := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		pause *= time.Second
		s.after(pause-time.Millisecond, false, requests)
		requests++
		s.after(time.Millisecond, false, requests)
	}
	s.f.answer(discoveryPath, nil)
	s.after(30*time.Second, true, requests+1)
}

func TestR226StaleIsBetterThanNothing(t *testing.T) {
	s := newSteps(t, nil)
	s.after(0, true, 1)
	s.f.answer(discoveryPath, send(200, "application/json", `{"issuer":"https://evil.example"}`))
	s.after(time.Hour, true, 2)
	s.after(500*time.Millisecond, true, 2)
	s.after(time.Second, true, 3)
	s.f.answer(discoveryPath, nil)
	s.after(time.Minute, true, 4)
	s.after(time.Minute, true, 4)
}

func TestR226NothingRemembered(t *testing.T) {
	s := newSteps(t, &Cache{})
	s.after(0, true, 1)
	s.after(0, true, 2)
	s.f.answer(discoveryPath, send(503, "", ""))
	s.after(0, false, 3)
	s.f.answer(discoveryPath, nil)
	s.after(0, true, 4)
	for range 2 {
		if err := verify(t, s.c, s.f.idToken(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.f.hits(keysPath); n != 2 {
		t.Errorf("%d key requests, want 2", n)
	}
}

func TestKeysAreRenewedToo(t *testing.T) {
	s := newSteps(t, nil)
	old := s.f.idToken(map[string]any{"exp": s.at.Now().Unix() + 10000})
	if err := verify(t, s.c, old); err != nil {
		t.Fatal(err)
	}
	s.f.setKeys(jwk(otherKey().Public(), "k2", "RS256"))
	s.at.Advance(time.Hour)
	if verify(t, s.c, old) == nil {
		t.Error("a withdrawn key is still accepted after its time")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestR233PanicOfTheTransportIsAnError(t *testing.T) {
	c := newClient(t, Config{OIDC: true, Issuer: "https://op.example", ClientID: "c", ClientSecret: fixed("s"), HTTP: &http.Client{
		Transport: roundTripper(func(*http.Request) (*http.Response, error) { panic("canary") }),
	}})
	_, err := c.Discover(t.Context())
	wantStep(t, err, StepDiscovery, "panicked")
}

func TestR225LateFlightsAskNothing(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	for range 2 {
		c.metadata.renew(t.Context(), nil) // two callers looked before either asked
	}
	if n := f.hits(discoveryPath); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
