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

func TestR391RetryAfter(t *testing.T) {
	const second, minute = time.Second, time.Minute
	for _, row := range []struct {
		name   string
		header func(now time.Time) string
		status int
		pause  time.Duration
	}{
		{"two minutes", func(time.Time) string { return "120" }, 429, 2 * minute},
		{"a date", func(now time.Time) string { return now.Add(3 * minute).UTC().Format(http.TimeFormat) }, 503, 3 * minute},
		{"five minutes at most", func(time.Time) string { return "86400" }, 503, 5 * minute},
		{"five minutes at most, by date", func(now time.Time) string { return now.Add(time.Hour).UTC().Format(http.TimeFormat) }, 500, 5 * minute},
		{"beyond all numbers", func(time.Time) string { return "99999999999999999999" }, 503, second},
		{"less than our own pause", func(time.Time) string { return "0" }, 503, second},
		{"a past date", func(now time.Time) string { return now.Add(-time.Hour).UTC().Format(http.TimeFormat) }, 503, second},
		{"negative", func(time.Time) string { return "-5" }, 503, second},
		{"nonsense", func(time.Time) string { return "soon" }, 503, second},
	} {
		t.Run("R-391 discovery: "+row.name, func(t *testing.T) {
			s := newSteps(t, nil)
			s.at.Advance(s.at.Now().Truncate(second).Add(second).Sub(s.at.Now())) // dates have whole seconds
			s.f.answer(discoveryPath, retryLater(row.status, row.header(s.at.Now())))
			s.after(0, false, 1)
			s.after(row.pause-time.Millisecond, false, 1)
			s.after(time.Millisecond, false, 2)
		})
	}
	t.Run("R-391 keys, and those that are known serve meanwhile", func(t *testing.T) {
		s := newSteps(t, nil)
		token := s.f.idToken(map[string]any{"exp": s.at.Now().Unix() + 10000})
		if err := verify(t, s.c, token); err != nil {
			t.Fatal(err)
		}
		s.f.answer(keysPath, retryLater(503, "120"))
		s.at.Advance(time.Hour)
		for _, requests := range []int{2, 2, 3} {
			if err := verify(t, s.c, token); err != nil {
				t.Fatal(err)
			}
			if n := s.f.hits(keysPath); n != requests {
				t.Errorf("%d key requests, want %d", n, requests)
			}
			s.at.Advance(minute)
		}
	})
}

func retryLater(status int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(status)
	}
}

// withdrawn is a client that knows a key which the provider then withdraws.
func withdrawn(t *testing.T, cacheControl string) (s *steps, accepted func(after time.Duration) bool) {
	s = newSteps(t, nil)
	serve := func(keys ...any) {
		s.f.answer(keysPath, func(w http.ResponseWriter, _ *http.Request) {
			if cacheControl != "" {
				w.Header().Set("Cache-Control", cacheControl)
			}
			sendJSON(w, 200, map[string]any{"keys": keys})
		})
	}
	token := s.f.idToken(map[string]any{"exp": s.at.Now().Add(60 * 24 * time.Hour).Unix()})
	serve(jwk(rsaKey().Public(), "k1", "RS256"))
	if err := verify(t, s.c, token); err != nil {
		t.Fatal(err)
	}
	serve(jwk(otherKey().Public(), "k2", "RS256"))
	return s, func(after time.Duration) bool {
		s.at.Advance(after)
		return verify(t, s.c, token) == nil
	}
}

func TestR384WithdrawnKeys(t *testing.T) {
	for _, row := range []struct {
		cacheControl string
		life         time.Duration
	}{
		{"", time.Hour},
		{"max-age=86400", time.Hour},
		{"max-age=2000000000", time.Hour},
		{"max-age=3600", time.Hour},
		{"max-age=600", 10 * time.Minute},
		{"max-age=60", time.Minute},
		{"max-age=1", 30 * time.Second},
		{"no-store", 30 * time.Second},
	} {
		t.Run("R-384 "+row.cacheControl, func(t *testing.T) {
			_, accepted := withdrawn(t, row.cacheControl)
			if !accepted(row.life - time.Second) {
				t.Error("asked for again before its time")
			}
			if accepted(time.Second) {
				t.Error("still accepted")
			}
		})
	}
}

func TestR384KeysThatCannotBeFetchedAgain(t *testing.T) {
	for name, fault := range map[string]http.HandlerFunc{
		"down":     send(503, "", ""),
		"wait":     retryLater(503, "300"),
		"nonsense": send(200, "application/json", "{}"),
		"moved":    func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
	} {
		t.Run("R-384 "+name, func(t *testing.T) {
			var told []StaleAnswer
			s := newSteps(t, nil)
			s.c.config.StaleKeys = func(a StaleAnswer) { told = append(told, a) }
			began := s.at.Now()
			token := s.f.idToken(map[string]any{"exp": began.Add(60 * 24 * time.Hour).Unix()})
			if err := verify(t, s.c, token); err != nil {
				t.Fatal(err)
			}
			s.f.answer(keysPath, fault)
			for range 22 {
				s.at.Advance(time.Hour)
				if err := verify(t, s.c, token); err != nil {
					t.Fatal(err)
				}
			}
			s.at.Advance(2*time.Hour - time.Second)
			if err := verify(t, s.c, token); err != nil {
				t.Errorf("one second before a day is over: %v", err)
			}
			s.at.Advance(time.Second)
			if verify(t, s.c, token) == nil {
				t.Error("accepted after a day")
			}
			s.at.Advance(30 * 24 * time.Hour)
			wantStep(t, verify(t, s.c, token), StepKeys, "")
			if len(told) != 23 || !told[0].Since.Equal(began) || !told[0].End.Equal(began.Add(24*time.Hour)) || told[0].Err == nil {
				t.Errorf("told %d times, first %+v", len(told), told[0])
			}
			s.f.behave()
			s.at.Advance(time.Hour)
			if err := verify(t, s.c, s.f.idToken(map[string]any{"iat": s.at.Now().Unix(), "exp": s.at.Now().Unix() + 100})); err != nil {
				t.Errorf("not of use again: %v", err)
			}
		})
	}
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
		if _, err := c.published.metadata.refresh(t.Context(), c, nil); err != nil { // two callers looked before either asked
			t.Fatal(err)
		}
	}
	if n := f.hits(discoveryPath); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
