package oauth

import (
	"net/http"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/testclock"
)

// sharing makes clients of f that remember together, in one time.
type sharing struct {
	*steps
	shared *Shared
}

func newSharing(t *testing.T) *sharing {
	return &sharing{&steps{t: t, f: newFake(t), at: testclock.New(time.Now())}, NewShared()}
}

func (s *sharing) client(change ...func(*Config)) *Client {
	s.t.Helper()
	return s.f.client(s.t, append(change, func(c *Config) { c.Shared, c.Time = s.shared, s.at.Now })...)
}

// idToken is one that lives for months.
func (s *sharing) idToken() string {
	return s.f.idToken(map[string]any{"exp": s.at.Now().Add(60 * 24 * time.Hour).Unix()})
}

func (s *sharing) wantAsked(metadata, keys int) {
	s.t.Helper()
	if m, k := s.f.hits(discoveryPath), s.f.hits(keysPath); m != metadata || k != keys {
		s.t.Errorf("%d discovery and %d key requests, want %d and %d", m, k, metadata, keys)
	}
}

func TestSharedByClientsOfOneProvider(t *testing.T) {
	t.Run("R-358 one request, however many clients want it at once", func(t *testing.T) {
		s := newSharing(t)
		token := s.idToken()
		var wg sync.WaitGroup
		for range 300 {
			wg.Go(func() {
				if err := verify(t, s.client(), token); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s.wantAsked(1, 1)
	})
	t.Run("R-358 each sends people with its own parameters", func(t *testing.T) {
		s := newSharing(t)
		for i := range 3 {
			c := s.client(func(c *Config) {
				c.ClientID, c.Scopes = "client-"+strconv.Itoa(i), []string{"openid", strconv.Itoa(i)}
			})
			to, err := c.AuthorizationURL(t.Context(), AuthRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if q := query(t, to); q.Get("client_id") != "client-"+strconv.Itoa(i) || q.Get("scope") != "openid "+strconv.Itoa(i) {
				t.Errorf("client %d sends to %s", i, to)
			}
		}
		s.wantAsked(1, 0)
	})
	t.Run("R-358 what is known is known to a new client at once", func(t *testing.T) {
		s := newSharing(t)
		if _, err := s.client().Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.client().AuthorizationEndpoint(); got != s.f.URL+"/authorize" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("R-358 nothing of a client is kept", func(t *testing.T) {
		s := newSharing(t)
		gone := func() weak.Pointer[Client] {
			c := s.client()
			if err := verify(t, c, s.idToken()); err != nil {
				t.Fatal(err)
			}
			return weak.Make(c)
		}()
		for deadline := time.Now().Add(race.Patience(time.Minute)); gone.Value() != nil; runtime.GC() { // a goroutine that has answered may not have ended yet
			if time.Now().After(deadline) {
				t.Fatal("the client lives on")
			}
		}
		runtime.KeepAlive(s.shared)
	})
}

func TestSharedRulesStayThoseOfOneClient(t *testing.T) {
	t.Run("R-358 a failure pauses all", func(t *testing.T) {
		s := newSharing(t)
		s.f.answer(discoveryPath, retryLater(503, "120"))
		for _, row := range []struct {
			after    time.Duration
			requests int
		}{{0, 1}, {0, 1}, {2*time.Minute - time.Millisecond, 1}, {time.Millisecond, 2}} {
			s.c = s.client()
			s.after(row.after, false, row.requests)
		}
	})
	t.Run("R-358 a withdrawn key is withdrawn for all", func(t *testing.T) {
		s := newSharing(t)
		token, first := s.idToken(), s.client()
		if err := verify(t, first, token); err != nil {
			t.Fatal(err)
		}
		s.f.setKeys(jwk(otherKey().Public(), "k2", "RS256"))
		s.at.Advance(time.Hour - time.Second)
		if err := verify(t, s.client(), token); err != nil {
			t.Error("asked for again before its time")
		}
		s.at.Advance(time.Second)
		if verify(t, s.client(), token) == nil || verify(t, first, token) == nil {
			t.Error("still accepted")
		}
	})
	t.Run("R-358 invented keys pause all", func(t *testing.T) {
		s := newSharing(t)
		forged := sign(otherKey(), "RS256", "invented", nil, encode(s.f.claims(nil)))
		for range 5 {
			if verify(t, s.client(), forged) == nil {
				t.Fatal("accepted")
			}
		}
		s.wantAsked(1, 1)
		s.at.Advance(30 * time.Second)
		_ = verify(t, s.client(), forged)
		_ = verify(t, s.client(), forged)
		s.wantAsked(1, 2)
	})
	t.Run("R-358 whoever asks hears of older keys", func(t *testing.T) {
		s := newSharing(t)
		told := map[string]int{}
		hears := func(name string) *Client {
			return s.client(func(c *Config) { c.StaleKeys = func(StaleAnswer) { told[name]++ } })
		}
		a, b := hears("a"), hears("b")
		if err := verify(t, a, s.idToken()); err != nil {
			t.Fatal(err)
		}
		s.f.answer(keysPath, send(503, "", ""))
		s.at.Advance(time.Hour)
		for _, c := range []*Client{b, a} {
			if err := verify(t, c, s.idToken()); err != nil {
				t.Fatal(err)
			}
		}
		if told["a"] != 0 || told["b"] != 1 {
			t.Errorf("told %v", told)
		}
	})
}

func TestSharedOnlyByWhoAsksAlike(t *testing.T) {
	for name, change := range map[string]func(f *fake, c *Config){
		"client":      func(_ *fake, c *Config) { c.Via = &http.Client{} },
		"issuer":      func(f *fake, c *Config) { c.Issuer = f.URL + "/" },
		"plain HTTP":  func(_ *fake, c *Config) { c.AllowInsecure = true },
		"issuers":     func(_ *fake, c *Config) { c.MatchIssuer = func(string, map[string]any) bool { return true } },
		"time":        func(_ *fake, c *Config) { c.CallTimeout = 7 * time.Second },
		"size":        func(_ *fake, c *Config) { c.MaxBody = 1 << 19 },
		"cache":       func(_ *fake, c *Config) { k := DefaultCache(); k.KeyPause++; c.Cache = &k },
		"key set":     func(f *fake, c *Config) { c.JWKS = f.URL + keysPath },
		"token":       func(f *fake, c *Config) { c.Token.URL = f.URL + "/token" },
		"user info":   func(f *fake, c *Config) { c.UserInfo.URL = f.URL + "/userinfo" },
		"authorizing": func(f *fake, c *Config) { c.Authorization.URL = f.URL + "/authorize" },
	} {
		t.Run("R-358 another "+name, func(t *testing.T) {
			s := newSharing(t)
			own := func(c *Config) { c.Via = http.DefaultClient }
			for _, c := range []*Client{s.client(own), s.client(own, func(c *Config) { change(s.f, c) })} {
				if err := verify(t, c, s.idToken()); err != nil {
					t.Fatal(err)
				}
			}
			s.wantAsked(2, 2)
		})
	}
}

// TestSharedByEveryEndpoint is R-845: the check of a document looks at the endpoints that a
// client sets itself, so clients share it only if they set the same ones.
func TestSharedByEveryEndpoint(t *testing.T) {
	kind := reflect.TypeFor[Endpoint]()
	for field := range reflect.TypeFor[Config]().Fields() {
		if field.Type != kind {
			continue
		}
		base := Config{Cache: &Cache{}}
		other := base
		reflect.ValueOf(&other).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(Endpoint{URL: "https://other.example"}))
		if base.askedAs() == other.askedAs() {
			t.Errorf("R-845 a client with its own %s shares the documents of one without", field.Name)
		}
	}
}

// clients that compare issuers themselves share what is stated, and
// nobody's judgement but their own.
func TestSharedAndMatchedByEach(t *testing.T) {
	matching := func(ok *bool) func(*Config) {
		return func(c *Config) { c.MatchIssuer = func(string, map[string]any) bool { return *ok } }
	}
	yes, no := true, false
	discovers := func(c *Client) bool { _, err := c.Discover(t.Context()); return err == nil }
	t.Run("R-358 who refuses a document harms nobody", func(t *testing.T) {
		s := newSharing(t)
		a, b := s.client(matching(&no)), s.client(matching(&yes))
		for range 2 {
			if discovers(a) || a.AuthorizationEndpoint() != "" {
				t.Error("it is used by who refuses it")
			}
			if !discovers(b) {
				t.Error("it is refused to who accepts it")
			}
		}
		s.wantAsked(1, 0)
	})
	t.Run("R-358 who refuses a document may ask again, after a pause", func(t *testing.T) {
		s := newSharing(t)
		accepted := false
		a, b := s.client(matching(&accepted)), s.client(matching(&yes))
		for _, row := range []struct {
			after    time.Duration
			requests int
		}{{0, 1}, {30*time.Second - time.Millisecond, 1}, {time.Millisecond, 2}, {time.Second, 2}} {
			s.at.Advance(row.after)
			if discovers(a) || !discovers(b) {
				t.Error("accepted by the wrong one")
			}
			s.wantAsked(row.requests, 0)
		}
		accepted = true
		if !discovers(a) {
			t.Error("refused for good")
		}
	})
	t.Run("R-358 what it accepted before serves meanwhile", func(t *testing.T) {
		s := newSharing(t)
		accepted := true
		a := s.client(matching(&accepted))
		if !discovers(a) {
			t.Fatal("refused")
		}
		accepted = false
		s.at.Advance(time.Hour)
		if !discovers(a) {
			t.Error("the older one is forgotten")
		}
		s.wantAsked(2, 0)
	})
}
