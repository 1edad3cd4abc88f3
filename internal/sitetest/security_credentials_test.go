package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// authorizeWith replaces the check of the site's credentials.
func authorizeWith(f func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error)) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		crew := *c.Providers[0].(*latchkey.Credentials)
		crew.Authorize = f
		c.Providers[0] = &crew
	}
}

func TestCredentialsFields(t *testing.T) {
	many := map[string]any{}
	for i := range 33 {
		many[fmt.Sprint("f", i)] = "x"
	}
	for name, fields := range map[string]map[string]any{
		"an operator object": {"username": "alice", "password": map[string]any{"$ne": ""}},
		"an array":           {"username": []any{"alice", "bob"}, "password": "x"},
		"a number":           {"username": "alice", "password": 1},
		"a boolean":          {"username": "alice", "password": true},
		"null":               {"username": "alice", "password": nil},
		"a field nobody reads": {
			"username": "alice", "password": "wonderland", "extra": []any{},
		},
		"33 fields":     many,
		"a long value":  {"username": "alice", "password": strings.Repeat("x", 4<<10+1)},
		"a long name":   {strings.Repeat("x", 4<<10+1): "x"},
		"no username":   {"password": "wonderland"},
		"nothing":       {},
		"a nested user": {"user": map[string]any{"username": "alice"}},
	} {
		t.Run("R-151 "+name, func(t *testing.T) {
			s := newSite(t)
			a := s.newBrowser().postJSON("/auth/callback/crew", fields)
			if a.error() != "CredentialsSignin" || a.signsIn() {
				t.Errorf("%d to %q, want CredentialsSignin", a.Code, a.location())
			}
			if asks := name == "nothing" || name == "no username"; !asks && s.tried() != 0 {
				t.Error("Authorize was asked")
			}
		})
	}
	t.Run("R-151 as many and as long as allowed", func(t *testing.T) {
		s := newSite(t)
		fields := []string{"password", strings.Repeat("x", 4<<10)}
		for i := range 31 {
			fields = append(fields, fmt.Sprint("f", i), "x")
		}
		s.newBrowser().post("/auth/callback/crew", append(fields, "callbackUrl", "/", "json", "true", "redirect", "false")...)
		if s.tried() != 1 || len(s.tries[0]) != 32 {
			t.Errorf("%d tries", s.tried())
		}
	})
	t.Run("R-151 what belongs to the protocol is no credential", func(t *testing.T) {
		s := newSite(t)
		s.newBrowser().post("/auth/callback/crew", "username", "alice", "callbackUrl", "/")
		if len(s.tries[0]) != 1 {
			t.Errorf("Authorize was given %d fields", len(s.tries[0]))
		}
	})
}

func TestCredentialsUntouched(t *testing.T) {
	for name, password := range map[string]string{
		"spaces": "  two  spaces ", "line ends": "a\r\nb\nc\rd", "NUL": "a\x00b", "emoji": "🔑👩‍👩‍👧", "decomposed": "e\u0301", "composed": "é", "full-width": "ｐａｓｓ", "capitals": "PassWörd İ",
		"long": strings.Repeat("ä", 2<<10), "tab": "\tx\t", "quotes": `"'\`, "plus and percent": "a+b%20c", "zero width": "a\u200bb", "a byte order mark": "\ufeffx",
	} {
		t.Run("R-152 "+name, func(t *testing.T) {
			s := newSite(t)
			s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", password)
			s.newBrowser().postJSON("/auth/callback/crew", map[string]any{"username": "alice", "password": password})
			if s.tried() != 2 {
				t.Fatalf("%d tries", s.tried())
			}
			for _, fields := range s.tries {
				if fields["password"] != password {
					t.Errorf("Authorize was given %q, want %q", fields["password"], password)
				}
			}
		})
	}
}

// shape is all of an answer that a browser can see, but for fresh tokens.
func shape(a *answer) string {
	h := a.Header().Clone()
	h.Del("Set-Cookie")
	return fmt.Sprint(a.Code, h, a.Body)
}

func TestCredentialsFailuresAlike(t *testing.T) {
	outcomes := map[string]func() (latchkey.User, error){
		"a zero user":          func() (latchkey.User, error) { return latchkey.User{}, nil },
		"unknown to the store": func() (latchkey.User, error) { return latchkey.User{}, latchkey.ErrNotFound },
		"unknown to the store, wrapped": func() (latchkey.User, error) {
			return latchkey.User{}, fmt.Errorf("no row in people: %w", latchkey.ErrNotFound)
		},
		"user beside ErrNotFound": func() (latchkey.User, error) { return latchkey.User{ID: "1"}, latchkey.ErrNotFound },
		"wrong password":          func() (latchkey.User, error) { return latchkey.User{}, latchkey.CredentialsError("") },
		"blocked":                 func() (latchkey.User, error) { return latchkey.User{}, latchkey.ErrCredentialsSignin },
		"wrapped": func() (latchkey.User, error) {
			return latchkey.User{}, fmt.Errorf("blocked: %w", latchkey.CredentialsError(""))
		},
		"joined":             func() (latchkey.User, error) { return latchkey.User{}, errors.Join(latchkey.ErrCredentialsSignin) },
		"user beside errors": func() (latchkey.User, error) { return latchkey.User{ID: "1"}, latchkey.CredentialsError("") },
	}
	want := ""
	for name, outcome := range outcomes {
		t.Run("R-153 "+name, func(t *testing.T) {
			s := newSite(t, authorizeWith(func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) { return outcome() }))
			a := s.newBrowser().post("/auth/callback/crew", "username", "alice")
			if want == "" {
				want = shape(a)
			}
			if shape(a) != want || a.location() != siteOrigin+"/auth/signin?error=CredentialsSignin&code=credentials" {
				t.Errorf("%s\nothers: %s", shape(a), want)
			}
		})
	}
	t.Run("R-153 throttled", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 1, Per: time.Hour} })
		s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "x")
		a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland")
		if shape(a) != want || s.tried() != 1 || a.signsIn() {
			t.Errorf("%s\nothers: %s", shape(a), want)
		}
		if !strings.Contains(s.log.text(), "too many tries") {
			t.Error("the log does not say why")
		}
	})
	t.Run("R-153 a code of the application's", func(t *testing.T) {
		s := newSite(t, authorizeWith(func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
			return latchkey.User{}, latchkey.CredentialsError("otp")
		}))
		if a := s.newBrowser().post("/auth/callback/crew"); a.location() != siteOrigin+"/auth/signin?error=CredentialsSignin&code=otp" {
			t.Errorf("sent to %q", a.location())
		}
	})
	for name, broken := range map[string]func() (latchkey.User, error){
		"an ordinary error": func() (latchkey.User, error) {
			return latchkey.User{}, errors.New("pq: password authentication failed")
		},
		"a panic": func() (latchkey.User, error) { panic("pq: password authentication failed") },
	} {
		t.Run("R-153 "+name, func(t *testing.T) {
			s := newSite(t, authorizeWith(func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) { return broken() }))
			b := s.newBrowser()
			a := b.post("/auth/callback/crew", "username", "alice")
			if a.location() != siteOrigin+"/auth/error?error=Configuration" {
				t.Errorf("sent to %q", a.location())
			}
			if page := b.get(strings.TrimPrefix(a.location(), siteOrigin)); strings.Contains(page.Body.String(), "password authentication") {
				t.Error("the page repeats the error")
			}
		})
	}
}

func TestCredentialsLimits(t *testing.T) {
	five := func(c *latchkey.Config) { c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 5, Per: time.Hour} }
	try := func(s *testSite, name, client string) *answer {
		b := s.newBrowser()
		b.token()
		r := b.request(http.MethodPost, "/auth/callback/crew", formContentType, url.Values{"csrfToken": {b.token()}, "username": {name}, "password": {"x"}}.Encode())
		r.RemoteAddr = client
		return b.serve(s.auth, r)
	}
	t.Run("R-154 on by default", func(t *testing.T) {
		s := newSite(t)
		for range 200 {
			try(s, "alice", "192.0.2.1:1")
		}
		if n := s.tried(); n != 20 {
			t.Errorf("%d tries got through, want 20", n)
		}
	})
	for name, refused := range map[string]error{"a zero user": nil, "ErrNotFound": latchkey.ErrNotFound, "ErrCredentialsSignin": latchkey.ErrCredentialsSignin} {
		t.Run("R-154 counts a try refused with "+name, func(t *testing.T) {
			tried := 0
			s := newSite(t, five, authorizeWith(func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
				tried++
				return latchkey.User{}, refused
			}))
			for range 7 {
				try(s, "alice", "192.0.2.1:1")
			}
			if tried != 5 {
				t.Errorf("%d tries got through, want 5", tried)
			}
		})
	}
	t.Run("R-154 one account by any spelling, from anywhere", func(t *testing.T) {
		s := newSite(t, five)
		for i, name := range []string{"alice", "ALICE", " alice", "alice ", "Alice\t", "ａｌｉｃｅ", "ⓐlice", "aliCe", "\u00a0alice"} {
			try(s, name, fmt.Sprintf("192.0.2.%d:1", i))
		}
		if n := s.tried(); n != 5 {
			t.Errorf("%d tries got through, want 5", n)
		}
	})
	t.Run("R-344 one account, whatever invisible stands in its name", func(t *testing.T) {
		for _, between := range []string{
			"\x00", "\t", "\x7f", "\u0085", "\u00ad", "\u034f", "\u115f", "\u180e", "\u200b", "\u200d", "\u202e", "\u2060",
			"\u3164", "\ufe0f", "\ufeff", "\uffa0", "\U000e0041", "\U000e0100", "\xff",
		} {
			s := newSite(t, five)
			for i, name := range []string{"Zoë", "Zoe" + between + "\u0308", between + "zoë", "zoë" + between, "z" + between + "oë", " zo" + between + between + "ë " + between} {
				for range 2 {
					s.newBrowser().tryPassword(fmt.Sprintf("203.0.113.%d:1", i), name, "x")
				}
			}
			if n := s.tried(); n != 5 {
				t.Errorf("%+q: %d tries got through, want 5", between, n)
			}
			for range 7 {
				s.newBrowser().tryPassword(attacker, between+" "+between, "x") // may be somebody's name, too
			}
			if n := s.tried(); n > 10 {
				t.Errorf("%+q alone: %d tries got through, want 5", between, n-5)
			}
		}
	})
	t.Run("R-154 one account by any path and form", func(t *testing.T) {
		s := newSite(t, five)
		for i := range 12 {
			target := []string{"/auth/callback/crew", "/auth//callback/crew", "/auth/callback//crew/", "/auth/callback/crew?x=y"}[i%4]
			if i%2 == 0 {
				s.newBrowser().post(target, "username", "alice", "password", "x")
			} else {
				s.newBrowser().postJSON(target, map[string]any{"username": "alice", "password": "x"})
			}
		}
		if n := s.tried(); n != 5 {
			t.Errorf("%d tries got through, want 5", n)
		}
	})
	t.Run("R-154 one client with many names", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerClient = latchkey.Rate{Events: 7, Per: time.Hour} })
		for i := range 20 {
			try(s, fmt.Sprint("user", i), fmt.Sprintf("192.0.2.1:%d", 1000+i))
		}
		if n := s.tried(); n != 7 {
			t.Errorf("%d tries got through, want 7", n)
		}
		try(s, "somebody", "192.0.2.2:1")
		if n := s.tried(); n != 8 {
			t.Error("another client is kept out")
		}
	})
	t.Run("R-154 one subscriber with many IPv6 addresses", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerClient = latchkey.Rate{Events: 7, Per: time.Hour} })
		for i := range 20 {
			try(s, fmt.Sprint("user", i), fmt.Sprintf("[2001:db8:1:2::%x]:443", i))
		}
		if n := s.tried(); n != 7 {
			t.Errorf("%d tries got through, want 7", n)
		}
	})
	t.Run("R-154 never more at once", func(t *testing.T) {
		s := newSite(t, five)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { try(s, "alice", "192.0.2.1:1") })
		}
		all.Wait()
		if n := s.tried(); n != 5 {
			t.Errorf("%d tries got through, want 5", n)
		}
	})
	t.Run("R-501 success gives back its own try, and no other", func(t *testing.T) {
		s := newSite(t, five, func(c *latchkey.Config) { c.Limits.CredentialsPerClient = latchkey.Rate{Events: 12, Per: time.Hour} })
		for range 4 {
			s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "x")
		}
		s.newBrowser().signIn()
		for range 10 {
			s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "x")
		}
		if n := s.tried(); n != 6 {
			t.Errorf("%d tries got through, want 4, the right one, and the fifth that was wrong", n)
		}
		for i := range 10 {
			s.newBrowser().post("/auth/callback/crew", "username", fmt.Sprint(i), "password", "x")
		}
		if n := s.tried(); n != 13 {
			t.Errorf("%d tries of one client got through, want 12 that failed and the right one", n)
		}
	})
	t.Run("R-154 time passes", func(t *testing.T) {
		s := newSite(t, five)
		for range 9 {
			try(s, "alice", "192.0.2.1:1")
		}
		s.clock.Advance(time.Hour)
		for range 9 {
			try(s, "alice", "192.0.2.1:1")
		}
		if n := s.tried(); n != 10 {
			t.Errorf("%d tries got through, want 10", n)
		}
	})
	t.Run("R-154 scripts learn when to try again", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 1, Per: time.Minute} })
		b := s.newBrowser()
		b.header.Set("X-Auth-Return-Redirect", "1")
		first := b.post("/auth/callback/crew", "username", "alice", "password", "x")
		second := b.post("/auth/callback/crew", "username", "alice", "password", "x")
		if first.Code != http.StatusOK || second.Code != http.StatusTooManyRequests || second.Header().Get("Retry-After") != "60" {
			t.Errorf("%d, then %d with Retry-After %q", first.Code, second.Code, second.Header().Get("Retry-After"))
		}
		if first.Body.String() != second.Body.String() || !strings.Contains(second.Body.String(), "error=CredentialsSignin") {
			t.Errorf("bodies differ: %s and %s", first.Body, second.Body)
		}
		b.header.Del("X-Auth-Return-Redirect")
		if a := b.post("/auth/callback/crew", "username", "alice", "password", "x"); a.Code != http.StatusFound || a.Header().Get("Retry-After") != "" {
			t.Errorf("a page gets %d, Retry-After %q", a.Code, a.Header().Get("Retry-After"))
		}
	})
	t.Run("R-154 S-033 while a shared limiter fails this process counts, and says so once a minute", func(t *testing.T) {
		for name, limiter := range map[string]storage.Limiter{"error": brokenLimiter{errors.New("down")}, "panic": brokenLimiter{}} {
			s := newSite(t, func(c *latchkey.Config) { c.Limits.Limiter = limiter })
			for i := range 60 {
				try(s, "alice", fmt.Sprintf("192.0.2.%d:1", i))
			}
			if n := s.tried(); n != 20 {
				t.Errorf("%s: %d tries got through, want 20", name, n)
			}
			if n := strings.Count(s.log.text(), "counted by each instance"); n != 1 {
				t.Errorf("%s: %d lines in the log, want 1", name, n)
			}
			s.clock.Advance(time.Minute)
			if try(s, "bob", "192.0.2.1:1"); strings.Count(s.log.text(), "counted by each instance") != 2 {
				t.Errorf("%s: a minute later nothing is said", name)
			}
		}
	})
	t.Run("R-154 a shared limiter that hangs is left alone for a while", func(t *testing.T) {
		hangs := &hangingLimiter{}
		s := newSite(t, func(c *latchkey.Config) { c.Limits.Limiter, c.Limits.StoreTimeout = hangs, 300*time.Millisecond })
		for range 3 {
			try(s, "alice", "192.0.2.1:1")
		}
		if n := hangs.asked.Load(); n != 1 || s.tried() != 3 {
			t.Errorf("it was asked %d times for %d tries", n, s.tried())
		}
		s.clock.Advance(5 * time.Second)
		if try(s, "alice", "192.0.2.1:1"); hangs.asked.Load() != 2 {
			t.Errorf("it was asked %d times, a while later", hangs.asked.Load())
		}
	})
	t.Run("R-154 a shared limiter sees no names", func(t *testing.T) {
		shared := &nosyLimiter{}
		s := newSite(t, func(c *latchkey.Config) { c.Limits.Limiter = shared })
		try(s, "alice", "192.0.2.1:1")
		if len(shared.keys) != 2 || strings.Contains(fmt.Sprint(shared.keys), "alice") || strings.Contains(fmt.Sprint(shared.keys), "192.0.2.1") {
			t.Errorf("keys %q", shared.keys)
		}
	})
	t.Run("R-154 off by name", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.Disabled = true })
		for range 150 {
			try(s, "alice", "192.0.2.1:1")
		}
		if n := s.tried(); n != 150 {
			t.Errorf("%d tries got through, want 150", n)
		}
	})
}

type brokenLimiter struct{ err error }

func (l brokenLimiter) Take(context.Context, string, latchkey.Rate) (time.Duration, error) {
	if l.err == nil {
		panic("limiter")
	}
	return 0, l.err
}

func (l brokenLimiter) Forget(context.Context, string) error { return l.err }

type hangingLimiter struct{ asked atomic.Int32 }

func (l *hangingLimiter) Take(ctx context.Context, _ string, _ latchkey.Rate) (time.Duration, error) {
	l.asked.Add(1)
	<-ctx.Done()
	return 0, ctx.Err()
}

func (l *hangingLimiter) Forget(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

type nosyLimiter struct{ keys []string }

func (l *nosyLimiter) Take(_ context.Context, key string, _ latchkey.Rate) (time.Duration, error) {
	l.keys = append(l.keys, key)
	return 0, nil
}

func (*nosyLimiter) Forget(context.Context, string) error { return nil }

func TestCredentialsCombinations(t *testing.T) {
	crew := func(f func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error)) latchkey.Provider {
		return &latchkey.Credentials{Authorize: f}
	}
	fine := func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
		return latchkey.User{}, nil
	}
	s := newSite(t)
	for name, c := range map[string]struct {
		config latchkey.Config
		want   latchkey.ErrorType
	}{
		"R-158 credentials alone with stored sessions": {latchkey.Config{Adapter: s.store, Providers: []latchkey.Provider{crew(fine)}}, latchkey.ErrUnsupportedStrategy},
		"R-158 credentials without Authorize":          {latchkey.Config{Providers: []latchkey.Provider{crew(nil)}}, latchkey.ErrMissingAuthorize},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Site.URL, c.config.Secrets = siteOrigin, []string{siteSecret}
			if _, err := latchkey.New(c.config); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
	t.Run("R-158 stored sessions need a stored user", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Session.Strategy = latchkey.DatabaseSessions })
		a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland")
		if a.signsIn() || a.error() != "Configuration" || len(s.store.Contents().Sessions) != 0 {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
}

func TestCredentialsContained(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	var mood atomic.Value // a try that hangs reads it while the test goes on
	mood.Store("")
	s := newSite(t, authorizeWith(func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
		switch mood.Load() {
		case "panic":
			panic("authorize")
		case "a nil map write":
			tries := map[string]map[string]int{}
			tries["nobody"]["x"]++
		case "goexit":
			runtime.Goexit()
		case "user and error":
			return latchkey.User{ID: "1"}, errors.New("but")
		case "hang": // and does not look at ctx
			<-end
		}
		return latchkey.User{ID: "1", Name: "Alice"}, nil
	}))
	for _, trouble := range []string{"panic", "a nil map write", "goexit", "user and error"} {
		t.Run("R-159 "+trouble, func(t *testing.T) {
			mood.Store(trouble)
			a := s.newBrowser().post("/auth/callback/crew")
			if a.signsIn() || a.error() != "Configuration" {
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
	}
	t.Run("R-159 hangs until the request ends", func(t *testing.T) {
		mood.Store("hang")
		b := s.newBrowser()
		ctx, cancel := context.WithCancel(t.Context())
		r := b.request(http.MethodPost, "/auth/callback/crew", formContentType, "csrfToken="+b.token())
		cancel()
		if a := b.serve(s.auth, r.WithContext(ctx)); a.signsIn() || a.error() != "Configuration" {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
	t.Run("R-159 the next sign-in works", func(t *testing.T) {
		mood.Store("")
		if a := s.newBrowser().post("/auth/callback/crew"); !a.signsIn() {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
	t.Run("R-159 one log entry with a stack", func(t *testing.T) {
		mood.Store("panic")
		before := len(s.log.records(t))
		s.newBrowser().post("/auth/callback/crew")
		records := s.logged(before)
		if len(records) != 1 || !strings.Contains(fmt.Sprint(records[0]["stack"]), "security_credentials_test") {
			t.Errorf("%d records: %.300v", len(records), records)
		}
	})
}

func TestCredentialsSignInCallback(t *testing.T) {
	var seen latchkey.SignInAttempt
	var say error
	s := newSite(t, func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error { seen = a; return say }
	})
	for _, c := range []struct {
		name string
		say  error
		to   string
		in   bool
	}{
		{"R-077 yes", nil, siteOrigin, true},
		{"R-077 no", errors.New("no"), siteOrigin + "/auth/error?error=AccessDenied", false},
		{"R-077 elsewhere", latchkey.RedirectTo("/waiting"), siteOrigin + "/waiting", false},
		{"R-077 elsewhere, abroad", latchkey.RedirectTo("https://evil.example"), siteOrigin, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			say = c.say
			a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland")
			if a.location() != c.to || a.signsIn() != c.in {
				t.Errorf("sent to %q, signed in %t", a.location(), a.signsIn())
			}
			if seen.User.ID != "alice-1" || seen.Credentials["username"] != "alice" || seen.Account.Type != latchkey.TypeCredentials {
				raw, _ := json.Marshal(seen.User)
				t.Errorf("the callback got %s", raw)
			}
		})
	}
}
