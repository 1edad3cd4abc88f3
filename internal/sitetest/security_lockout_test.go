package sitetest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
)

// from makes a browser's posts come from an address.
func (b *browser) from(client, target string, fields ...string) *answer {
	b.site.t.Helper()
	form := url.Values{"csrfToken": {b.token()}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r := b.request(http.MethodPost, target, formContentType, form.Encode())
	r.RemoteAddr = client
	return b.serve(b.site.auth, r)
}

func (b *browser) tryPassword(client, name, password string) *answer {
	b.site.t.Helper()
	return b.from(client, "/auth/callback/crew", "username", name, "password", password)
}

func (b *browser) askForMail(client, email string) *answer {
	b.site.t.Helper()
	return b.from(client, "/auth/signin/post", "email", email)
}

const attacker, owner = "203.0.113.6:1", "192.0.2.1:1"

// forgetful is a limiter of two methods, as others may be.
type forgetful struct{ storage.Limiter }

func TestLimitsTakeBothOrNeither(t *testing.T) {
	limits := func(c *latchkey.Config) {
		c.Limits.CredentialsPerAccount, c.Limits.CredentialsPerClient = latchkey.Rate{Events: 5, Per: time.Hour}, latchkey.Rate{Events: 3, Per: time.Hour}
		c.Limits.MailsPerRecipient, c.Limits.MailsPerClient = latchkey.Rate{Events: 5, Per: time.Hour}, latchkey.Rate{Events: 3, Per: time.Hour}
	}
	t.Run("R-344 a client over its limit locks no account", func(t *testing.T) {
		s := newSite(t, limits)
		for i := range 3 {
			s.newBrowser().tryPassword(attacker, fmt.Sprint("own", i), "x")
		}
		for range 50 {
			s.newBrowser().tryPassword(attacker, "alice", "x")
		}
		if a := s.newBrowser().tryPassword(owner, "alice", "wonderland"); !a.signsIn() || s.tried() != 4 {
			t.Errorf("the owner is sent to %q, %d tries", a.location(), s.tried())
		}
	})
	t.Run("R-344 nor with a limiter that gives nothing back", func(t *testing.T) {
		s := newSite(t, limits, func(c *latchkey.Config) { c.Limits.Limiter = forgetful{memoryadapter.NewLimiter(nil)} })
		for range 50 {
			s.newBrowser().tryPassword(attacker, "alice", "x")
		}
		if a := s.newBrowser().tryPassword(owner, "alice", "wonderland"); !a.signsIn() {
			t.Errorf("the owner is sent to %q", a.location())
		}
	})
	t.Run("R-344 a client over its limit silences no mailbox", func(t *testing.T) {
		s := newSite(t, limits)
		for i := range 3 {
			s.newBrowser().askForMail(attacker, fmt.Sprintf("own%d@example.com", i))
		}
		for range 50 {
			s.newBrowser().askForMail(attacker, "alice@example.com")
		}
		if s.newBrowser().askForMail(owner, "alice@example.com"); len(s.sent()) != 4 {
			t.Errorf("%d mails, want the attacker's three and the owner's", len(s.sent()))
		}
	})
	t.Run("R-344 a locked account costs a client nothing", func(t *testing.T) {
		s := newSite(t, limits, func(c *latchkey.Config) { c.Limits.CredentialsPerAccount.Events = 1 })
		s.newBrowser().tryPassword(attacker, "alice", "x")
		for range 10 {
			s.newBrowser().tryPassword(owner, "alice", "x")
		}
		for i := range 5 {
			s.newBrowser().tryPassword(owner, fmt.Sprint(i), "x")
		}
		if n := s.tried(); n != 4 {
			t.Errorf("%d tries got through, want 1 and the client's 3", n)
		}
	})
	t.Run("R-344 nor does a silenced mailbox", func(t *testing.T) {
		s := newSite(t, limits, func(c *latchkey.Config) { c.Limits.MailsPerRecipient.Events = 1 })
		for range 10 {
			s.newBrowser().askForMail(owner, "alice@example.com")
		}
		for i := range 5 {
			s.newBrowser().askForMail(owner, fmt.Sprintf("%d@example.com", i))
		}
		if n := len(s.sent()); n != 3 {
			t.Errorf("%d mails, want 3", n)
		}
	})
	t.Run("R-344 also at once", func(t *testing.T) {
		s := newSite(t, limits)
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() { s.newBrowser().tryPassword(attacker, "alice", "x") })
		}
		all.Wait()
		if n := s.tried(); n != 3 {
			t.Errorf("%d tries got through, want 3", n)
		}
		if a := s.newBrowser().tryPassword(owner, "alice", "wonderland"); !a.signsIn() {
			t.Errorf("the owner is sent to %q", a.location())
		}
	})
}

func TestRightTriesDoNotCount(t *testing.T) {
	t.Run("R-346 passwords", func(t *testing.T) {
		s := newSite(t)
		for i := range 300 {
			if a := s.newBrowser().tryPassword(owner, "alice", "wonderland"); !a.signsIn() {
				t.Fatalf("right password number %d: sent to %q", i+1, a.location())
			}
		}
	})
	t.Run("R-346 failures between them do", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerClient = latchkey.Rate{Events: 7, Per: time.Hour} })
		for i := range 20 {
			s.newBrowser().tryPassword(attacker, fmt.Sprint("victim", i), "x")
			s.newBrowser().tryPassword(attacker, "alice", "wonderland")
		}
		wrong := 0
		for _, fields := range s.tries {
			if fields["password"] == "x" {
				wrong++
			}
		}
		if wrong != 7 {
			t.Errorf("%d guesses, want 7", wrong)
		}
	})
	t.Run("R-346 links that were used, at their mailbox", func(t *testing.T) {
		s := newSite(t)
		for i := range 40 {
			b, from := s.newBrowser(), fmt.Sprintf("192.0.2.%d:1", i/20)
			b.askForMail(from, "alice@example.com")
			links := s.sent()
			if len(links) != i+1 {
				t.Fatalf("no mail number %d", i+1)
			}
			r := b.request(http.MethodGet, strings.TrimPrefix(links[i].URL, siteOrigin), "", "")
			r.RemoteAddr = from
			if a := b.serve(s.auth, r); !a.signsIn() {
				t.Fatalf("link number %d: sent to %q", i+1, a.location())
			}
		}
	})
	t.Run("R-346 links that were used buy a client no mails to others", func(t *testing.T) {
		for name, opener := range map[string]func(*testSite, *browser) *browser{
			"in the browser that asked": func(_ *testSite, b *browser) *browser { return b },
			"in another one":            func(s *testSite, _ *browser) *browser { return s.newBrowser() },
		} {
			s := newSite(t, func(c *latchkey.Config) { c.Limits.MailsPerClient = latchkey.Rate{Events: 10, Per: time.Hour} })
			strangers := 0
			for i := range 20 {
				own := fmt.Sprintf("me%d@attacker.example", i)
				b := s.newBrowser()
				for range 4 { // from the second on a browser that is known
					before := len(s.sent())
					b.askForMail(attacker, own)
					for _, link := range s.sent()[before:] {
						o := opener(s, b)
						r := o.request(http.MethodGet, strings.TrimPrefix(link.URL, siteOrigin), "", "")
						r.RemoteAddr = attacker
						o.serve(s.auth, r)
					}
				}
				before := len(s.sent())
				s.newBrowser().askForMail(attacker, fmt.Sprintf("victim%d@example.com", i))
				strangers += len(s.sent()) - before
			}
			if strangers == 0 || strangers >= 10 {
				t.Errorf("%s: %d mails to others, want some and fewer than 10", name, strangers)
			}
		}
	})
	t.Run("R-346 what is given back is no credit", func(t *testing.T) {
		l := memoryadapter.NewLimiter(newTestClock().Now)
		rate := latchkey.Rate{Events: 3, Per: time.Hour}
		for range 10 {
			if err := l.Return(t.Context(), "k", rate); err != nil {
				t.Fatal(err)
			}
		}
		passed := 0
		for range 10 {
			if wait, _ := l.Take(t.Context(), "k", rate); wait == 0 {
				passed++
			}
		}
		if err := l.Return(t.Context(), "k", rate); err != nil || passed != 3 {
			t.Errorf("%d passed, want 3; %v", passed, err)
		}
		if wait, _ := l.Take(t.Context(), "k", rate); wait != 0 {
			t.Error("what was given back is gone")
		}
		if wait, _ := l.Take(t.Context(), "k", rate); wait == 0 {
			t.Error("more than was given back")
		}
	})
	t.Run("R-346 more given back than was taken is no credit either", func(t *testing.T) {
		l := memoryadapter.NewLimiter(newTestClock().Now)
		rate := latchkey.Rate{Events: 3, Per: time.Hour}
		if _, err := l.Take(t.Context(), "k", rate); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if err := l.Return(t.Context(), "k", rate); err != nil {
				t.Fatal(err)
			}
		}
		passed := 0
		for range 10 {
			if wait, _ := l.Take(t.Context(), "k", rate); wait == 0 {
				passed++
			}
		}
		if passed != 3 {
			t.Errorf("%d passed, want 3", passed)
		}
	})
}

// browserCookie is the cookie of a browser that has signed in before.
const browserCookie = "__Secure-authjs.browser"

func TestKnownBrowserHasItsOwnBudget(t *testing.T) {
	attack := func(s *testSite) {
		for i := range 60 {
			s.newBrowser().tryPassword(fmt.Sprintf("203.0.113.%d:1", i), "alice", "x")
			s.newBrowser().askForMail(fmt.Sprintf("203.0.113.%d:1", i), "alice@example.com")
		}
	}
	known := func(s *testSite) *browser {
		b := s.newBrowser()
		b.signIn()
		b.post("/auth/signout")
		return b
	}
	t.Run("R-346 its owner gets in while others are locked out", func(t *testing.T) {
		s := newSite(t)
		b := known(s)
		attack(s)
		if a := s.newBrowser().tryPassword(owner, "alice", "wonderland"); a.signsIn() {
			t.Error("a stranger's browser is let in under attack")
		}
		if a := b.tryPassword(owner, "alice", "wonderland"); !a.signsIn() {
			t.Errorf("the owner is sent to %q", a.location())
		}
		if a := s.newBrowser().tryPassword(attacker, "alice", "wonderland"); a.signsIn() {
			t.Error("the owner's sign-in lets strangers guess on")
		}
	})
	t.Run("R-501 it never replaces the client's budget", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerClient = latchkey.Rate{Events: 2, Per: time.Hour} })
		b := known(s)
		for i := range 5 {
			s.newBrowser().tryPassword(owner, fmt.Sprint(i), "x")
		}
		before := s.tried()
		if b.tryPassword(owner, "alice", "wonderland"); s.tried() != before {
			t.Error("a known browser's try is not counted for its client")
		}
	})
	t.Run("R-501 it counts only for tries that end in its user", func(t *testing.T) {
		for name, user := range map[string]latchkey.User{
			"another user":      {ID: "bob-1", Name: "Bob"},
			"a user without id": {Name: "Bob"},
			"nobody":            {},
		} {
			comes := latchkey.User{ID: "alice-1", Name: "Alice"}
			s := newSite(t, authorizeWith(func(_ context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if fields["password"] != "wonderland" {
					return latchkey.User{}, nil
				}
				return comes, nil
			}))
			b := s.newBrowser()
			b.tryPassword(owner, "alice", "wonderland")
			attack(s)
			wrong := b.tryPassword(owner, "alice", "x")
			comes = user // the name has changed hands
			right := b.tryPassword(owner, "alice", "wonderland")
			if right.signsIn() || shape(right) != shape(wrong) {
				t.Errorf("%s: to %q, and a wrong password to %q", name, right.location(), wrong.location())
			}
		}
	})
	t.Run("R-501 it is for exactly what its user typed", func(t *testing.T) {
		s := newSite(t)
		b := known(s)
		attack(s)
		before := s.tried()
		for _, alike := range []string{"ALICE", "alice ", "alíce", "ａlice"} {
			b.tryPassword(owner, alike, "x")
		}
		if s.tried() != before {
			t.Error("a browser of alice's has a budget at names that are counted alike")
		}
	})
	t.Run("R-512 it ends with its user's sessions", func(t *testing.T) {
		s := newSite(t, revocable)
		b := known(s)
		s.clock.Advance(time.Minute)
		if err := s.auth.Users().EndSessions(t.Context(), "alice-1"); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Minute)
		attack(s)
		if a := b.tryPassword(owner, "alice", "wonderland"); a.signsIn() {
			t.Error("the browser is known although the user's sessions have been ended")
		}
	})
	t.Run("R-346 mails", func(t *testing.T) {
		s := newSite(t)
		b := s.newBrowser()
		b.askForMail(owner, "alice@example.com")
		b.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin))
		b.post("/auth/signout")
		attack(s)
		before := len(s.sent())
		if b.askForMail(owner, "alice@example.com"); len(s.sent()) != before+1 {
			t.Error("the owner gets no mail under attack")
		}
		for range 20 {
			b.askForMail(owner, "alice@example.com")
		}
		if n := len(s.sent()) - before; n != 5 {
			t.Errorf("%d mails for a known browser, want 5", n)
		}
	})
	t.Run("R-346 the budget is bounded", func(t *testing.T) {
		s := newSite(t)
		b := known(s)
		attack(s)
		before := s.tried()
		for i := range 60 {
			b.tryPassword(fmt.Sprintf("192.0.2.%d:1", i), "alice", "x")
		}
		if n := s.tried() - before; n != 20 {
			t.Errorf("%d tries of a known browser got through, want 20", n)
		}
	})
	t.Run("R-346 it is for the account that signed in", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 3, Per: time.Hour} })
		b := known(s)
		for range 3 {
			s.newBrowser().tryPassword(attacker, "bob", "x")
		}
		before := s.tried()
		if b.tryPassword(owner, "bob", "x"); s.tried() != before {
			t.Error("a browser of alice's has a budget at bob's")
		}
	})
	t.Run("R-346 a cookie of another site, tenant or purpose is none", func(t *testing.T) {
		s := newSite(t)
		other := known(newSite(t, func(c *latchkey.Config) { c.Secrets = []string{"another secret, which is long enough"} }))
		session := s.newBrowser().signIn().cookie("session-token").Value
		attack(s)
		for name, value := range map[string]string{"another site's": other.jar[browserCookie], "a session": session, "junk": "junk", "nothing": ""} {
			b := s.newBrowser()
			b.jar[browserCookie] = value
			if a := b.tryPassword(owner, "alice", "wonderland"); a.signsIn() {
				t.Errorf("%s counts", name)
			}
		}
	})
	t.Run("R-346 the cookie", func(t *testing.T) {
		s := newSite(t)
		b := s.newBrowser()
		c := b.signIn().cookie("authjs.browser")
		if c == nil || c.Name != browserCookie || !c.HttpOnly || !c.Secure || c.Domain != "" || c.Path != "/" || c.SameSite != http.SameSiteLaxMode || strings.Contains(c.Value, "alice") {
			t.Fatalf("cookie %v", c)
		}
		if again := b.signIn().cookie("authjs.browser"); again != nil {
			t.Error("it is sent again though nothing changed")
		}
		s.clock.Advance(46 * 24 * time.Hour)
		if again := b.signIn().cookie("authjs.browser"); again == nil {
			t.Error("it is not renewed")
		}
		if out := b.post("/auth/signout"); out.cookie("authjs.browser") != nil {
			t.Error("signing out makes the browser a stranger's")
		}
		s.clock.Advance(91 * 24 * time.Hour)
		attack(s)
		if a := b.tryPassword(owner, "alice", "wonderland"); a.signsIn() {
			t.Error("it never ends")
		}
	})
	t.Run("R-346 nobody needs it where nothing is limited", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.Disabled = true })
		if c := s.newBrowser().signIn().cookie("authjs.browser"); c != nil {
			t.Errorf("cookie %v", c)
		}
		oauth := newOAuthSite(t, withIssuer(fullChecks))
		if c := oauth.mustSignIn(oauth.newBrowser()).cookie("authjs.browser"); c != nil {
			t.Errorf("a sign-in that nobody limits sets %v", c)
		}
	})
	t.Run("R-346 it can be renamed", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Cookies.Browser.Name = "known" })
		if c := s.newBrowser().signIn().cookie("known"); c == nil {
			t.Error("no cookie")
		}
	})
}

func TestUnnamedProxyIsWarnedOf(t *testing.T) {
	const warning = "Site.TrustedProxies"
	count := func(s *testSite) int { return strings.Count(s.log.text(), warning) }
	t.Run("R-346 not for what no proxy writes", func(t *testing.T) {
		s := newSite(t)
		b := s.newBrowser()
		b.header.Set("X-Forwarded-For", "junk")
		if b.tryPassword(owner, "alice", "wonderland"); count(s) != 0 {
			t.Error("warned")
		}
	})
	t.Run("R-346 at start, where the host is a proxy's word", func(t *testing.T) {
		trust := func(c *latchkey.Config) { c.Site.TrustHost = true }
		for name, c := range map[string]struct {
			change func(*latchkey.Config)
			want   int
		}{
			"nobody named it":     {func(*latchkey.Config) {}, 1},
			"a function knows":    {func(c *latchkey.Config) { c.Site.ClientAddress = func(*latchkey.Request) string { return "" } }, 0},
			"nothing is limited":  {func(c *latchkey.Config) { c.Limits.Disabled = true }, 0},
			"nothing to be tried": {func(c *latchkey.Config) { c.Providers = c.Providers[2:] }, 0},
			"no trust":            {func(c *latchkey.Config) { c.Site.TrustHost = false }, 0},
		} {
			if n := count(newSite(t, trust, c.change)); n != c.want {
				t.Errorf("%s: %d warnings, want %d", name, n, c.want)
			}
		}
	})
	t.Run("R-513 where no client can be found, once", func(t *testing.T) {
		s := newSite(t)
		for range 3 {
			s.newBrowser().tryPassword("@", "alice", "x")
		}
		if n := strings.Count(s.log.text(), "Unix socket"); n != 1 {
			t.Errorf("%d warnings", n)
		}
	})
	for header, value := range map[string]string{"X-Forwarded-For": "198.51.100.7, 10.0.0.1", "X-Real-Ip": "2001:db8::1", "Forwarded": "for=198.51.100.7;proto=https"} {
		t.Run("R-346 at first sight, once: "+header, func(t *testing.T) {
			s := newSite(t)
			for range 3 {
				b := s.newBrowser()
				b.header.Set(header, value)
				b.tryPassword(owner, "alice", "wonderland")
			}
			if n := count(s); n != 1 {
				t.Errorf("%d warnings", n)
			}
		})
	}
}

func random128() []byte {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return b
}

func uuidOf(b []byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func TestClientsBehindAUnixSocket(t *testing.T) {
	behind := func(networks ...netip.Prefix) func(*latchkey.Config) {
		return func(c *latchkey.Config) {
			c.Site.TrustedProxies = networks
			c.Limits.CredentialsPerClient = latchkey.Rate{Events: 3, Per: time.Hour}
		}
	}
	// tried returns how many of ten guesses get through.
	tried := func(s *testSite, peer string, hops func(i int) string) int {
		for i := range 10 {
			b := s.newBrowser()
			b.header.Set("X-Forwarded-For", hops(i))
			b.tryPassword(peer, fmt.Sprint("user", i), "x")
		}
		return s.tried()
	}
	const inner = "10.0.0.1"
	unix, network := netip.Prefix{}, netip.MustParsePrefix("10.0.0.0/8")
	for rule, c := range map[string]struct {
		networks []netip.Prefix
		peer     string
		hops     func(i int) string
		want     int
	}{
		"one client":                        {[]netip.Prefix{unix}, "@", func(int) string { return "198.51.100.7" }, 3},
		"one client, without a peer's name": {[]netip.Prefix{unix}, "", func(int) string { return "198.51.100.7" }, 3},
		"many clients":                      {[]netip.Prefix{unix}, "@", func(i int) string { return fmt.Sprintf("198.51.100.%d", i) }, 10},
		"what the client wrote":             {[]netip.Prefix{unix}, "@", func(i int) string { return fmt.Sprintf("203.0.113.%d, 198.51.100.7", i) }, 3},
		"behind another proxy":              {[]netip.Prefix{unix, network}, "@", func(int) string { return "198.51.100.7, " + inner }, 3},
		"an unnamed proxy in between":       {[]netip.Prefix{unix}, "@", func(i int) string { return fmt.Sprintf("198.51.100.%d, %s", i, inner) }, 3},
		"a peer that is no Unix socket":     {[]netip.Prefix{unix}, "192.0.2.1:1", func(i int) string { return fmt.Sprintf("198.51.100.%d", i) }, 3},
		"a Unix socket that is not named":   {[]netip.Prefix{network}, "@", func(int) string { return "198.51.100.7" }, 10},
	} {
		t.Run("R-513 "+rule, func(t *testing.T) {
			if n := tried(newSite(t, behind(c.networks...)), c.peer, c.hops); n != c.want {
				t.Errorf("%d guesses get through, want %d", n, c.want)
			}
		})
	}
}

func TestLinkTokensAreNotGuessed(t *testing.T) {
	digits := func() (string, error) { return fmt.Sprintf("%06d", randomBelow(1_000_000)), nil }
	with := func(newToken func() (string, error), more ...func(*latchkey.Config)) latchkey.Config {
		p := &latchkey.Email{ID: "post", Send: func(context.Context, latchkey.Message) error { return nil }, NewToken: newToken}
		c := plainsite.Config(newSite(t).store)
		c.Providers = append(c.Providers, p)
		for _, f := range more {
			f(&c)
		}
		return c
	}
	short := func(c *latchkey.Config) { c.Providers[len(c.Providers)-1].(*latchkey.Email).MaxAge = 10 * time.Minute }
	n := 0
	for name, c := range map[string]struct {
		newToken func() (string, error)
		change   func(*latchkey.Config)
		fine     bool
	}{
		"nothing":                         {func() (string, error) { return "", nil }, short, false},
		"one character":                   {func() (string, error) { return "1", nil }, short, false},
		"four digits":                     {func() (string, error) { d, _ := digits(); return d[:4], nil }, short, false},
		"always the same":                 {func() (string, error) { return strings.Repeat("x1", 32), nil }, short, false},
		"a counter behind a long prefix":  {func() (string, error) { n++; return fmt.Sprintf("the-longest-prefix-of-all-%08d", n), nil }, short, false},
		"six digits for a day":            {digits, func(*latchkey.Config) {}, false},
		"six digits for minutes":          {digits, short, true},
		"six digits and no limits":        {digits, func(c *latchkey.Config) { short(c); c.Limits.Disabled = true }, false},
		"six digits and tries by hundred": {digits, func(c *latchkey.Config) { short(c); c.Limits.LinkTries = latchkey.Rate{Events: 100, Per: time.Hour} }, false},
		"16 random hex digits":            {randomHexOf(16), func(*latchkey.Config) {}, false},
		"32 random hex digits":            {randomHexOf(32), func(c *latchkey.Config) { c.Limits.Disabled = true }, true},
		"a service that is not up yet":    {func() (string, error) { return "", context.DeadlineExceeded }, func(*latchkey.Config) {}, true},
	} {
		t.Run("R-349 "+name, func(t *testing.T) {
			_, err := latchkey.New(with(c.newToken, c.change))
			if (err == nil) != c.fine || err != nil && !strings.Contains(err.Error(), "NewToken") {
				t.Errorf("error %v, want it accepted: %t", err, c.fine)
			}
		})
	}
	t.Run("R-349 a token that turns out weak is neither stored nor sent", func(t *testing.T) {
		for _, weak := range []string{"", "1", "123456", strings.Repeat("ab", 10)} {
			asked := 0
			s := newSite(t, func(c *latchkey.Config) {
				c.Providers[1].(*latchkey.Email).NewToken = func() (string, error) {
					if asked++; asked > 4 {
						return weak, nil
					}
					return randomHexOf(64)()
				}
			})
			a := s.newBrowser().askForMail(owner, "alice@example.com")
			if len(s.sent()) != 0 || len(s.store.Contents().VerificationTokens) != 0 || a.error() != "Configuration" {
				t.Errorf("%q: %d mails, sent to %q", weak, len(s.sent()), a.location())
			}
		}
	})
	made := 0
	for name, newToken := range map[string]func() (string, error){
		"of which the first have zeros in front": func() (string, error) {
			made++
			number := new(big.Int).SetBytes(random128())
			return number.Rsh(number, uint(max(0, 11-made))).Text(62), nil
		},
		"in base64url":                 func() (string, error) { return base64.RawURLEncoding.EncodeToString(random128()), nil },
		"in hex":                       randomHexOf(32),
		"as a number in base 36":       func() (string, error) { return new(big.Int).SetBytes(random128()).Text(36), nil },
		"as a number in base 62":       func() (string, error) { return new(big.Int).SetBytes(random128()).Text(62), nil },
		"as a UUID, with six bits off": func() (string, error) { return uuidOf(random128()), nil },
	} {
		t.Run("R-563 128 random bits "+name+" never fail", func(t *testing.T) {
			s := newSite(t, func(c *latchkey.Config) {
				c.Limits.Disabled = true
				c.Providers[1].(*latchkey.Email).NewToken = newToken
			})
			b := s.newBrowser()
			for i := range 150 {
				if a := b.post("/auth/signin/post", "email", fmt.Sprintf("ada%d@example.com", i)); a.error() != "" {
					t.Fatalf("mail %d: sent to %q\n%s", i, a.location(), s.log.text())
				}
			}
		})
	}
	t.Run("R-349 guesses at a short one are few, from anywhere", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) {
			p := c.Providers[1].(*latchkey.Email)
			p.NewToken, p.MaxAge = digits, 10*time.Minute
		})
		s.newBrowser().askForMail(owner, "alice@example.com")
		right := strings.TrimPrefix(s.sent()[0].URL, siteOrigin)
		for i := range 200 {
			b := s.newBrowser()
			r := b.request(http.MethodGet, fmt.Sprintf("/auth/callback/post?email=alice@example.com&token=x%05d", i), "", "")
			r.RemoteAddr = fmt.Sprintf("203.0.113.%d:1", i)
			if a := b.serve(s.auth, r); a.error() != "Verification" {
				t.Fatalf("guess %d: sent to %q", i, a.location())
			}
		}
		if n := strings.Count(s.log.text(), "the link is unknown"); n != 5 {
			t.Errorf("%d guesses reached the store, want 5", n)
		}
		if a := s.newBrowser().get(right); a.signsIn() {
			t.Error("the right one is accepted after too many guesses")
		}
		s.clock.Advance(4 * time.Minute)
		if a := s.newBrowser().get(right); !a.signsIn() {
			t.Errorf("after a pause: sent to %q", a.location())
		}
	})
	codes := func(c *latchkey.Config) {
		p := c.Providers[1].(*latchkey.Email)
		p.NewToken, p.MaxAge = digits, 10*time.Minute
	}
	guess := func(s *testSite, b *browser, client string, i int) *answer {
		r := b.request(http.MethodGet, fmt.Sprintf("/auth/callback/post?email=alice@example.com&token=x%05d", i), "", "")
		r.RemoteAddr = client
		return b.serve(s.auth, r)
	}
	linkOf := func(s *testSite, i int) string { return strings.TrimPrefix(s.sent()[i].URL, siteOrigin) }
	for name, change := range map[string]func(*latchkey.Config){
		"remembered by the adapter": func(*latchkey.Config) {},
		"remembered here":           func(c *latchkey.Config) { c.Adapter = struct{ onlyLinks }{onlyLinks{c.Adapter.(linkStore)}} },
	} {
		t.Run("R-516 of several short ones the newest alone works, "+name, func(t *testing.T) {
			s := newSite(t, codes, change)
			for range 5 {
				s.newBrowser().askForMail(owner, "alice@example.com")
				s.newBrowser().askForMail(owner, "alice@example.com") // at the same instant: no second one
				s.clock.Advance(time.Second)
			}
			if n := len(s.sent()); n != 5 {
				t.Fatalf("%d mails, want 5", n)
			}
			for i := range 4 {
				refused(t, s.newBrowser().get(linkOf(s, i)), "Verification")
				s.clock.Advance(time.Minute) // wrong ones are counted
			}
			if a := s.newBrowser().get(linkOf(s, 4)); !a.signsIn() {
				t.Errorf("the newest: to %q", a.location())
			}
		})
	}
	t.Run("R-516 with SameBrowser tries elsewhere silence no mailbox", func(t *testing.T) {
		s := newSite(t, codes, func(c *latchkey.Config) { c.Providers[1].(*latchkey.Email).SameBrowser = true })
		b, other := s.newBrowser(), s.newBrowser()
		b.askForMail(owner, "alice@example.com")
		s.clock.Advance(time.Second)
		other.askForMail(attacker, "alice@example.com")
		for i := range 60 {
			guess(s, s.newBrowser(), fmt.Sprintf("203.0.113.%d:1", i), i)
			guess(s, other, fmt.Sprintf("203.0.113.%d:1", 100+i), i)
		}
		if a := b.get(linkOf(s, 0)); !a.signsIn() {
			t.Errorf("the browser that asked: to %q", a.location())
		}
		if a := other.get(linkOf(s, 1)); a.signsIn() {
			t.Error("a browser that has guessed too often is let in")
		}
	})
	t.Run("R-508 accents and case are no other mailbox to guess at", func(t *testing.T) {
		s := newSite(t, codes)
		s.newBrowser().askForMail(owner, "alice@example.com")
		for i, spelled := range []string{"alice", "ALICE", "Alice", "alíce", "ａlice", "ⓐlice", "al\u200bice", "Alïce"} {
			b := s.newBrowser()
			r := b.request(http.MethodGet, "/auth/callback/post?token=x00000&email="+url.QueryEscape(spelled+"@example.com"), "", "")
			r.RemoteAddr = fmt.Sprintf("203.0.113.%d:1", i)
			b.serve(s.auth, r)
		}
		if n := strings.Count(s.log.text(), "the link is unknown"); n != 5 {
			t.Errorf("%d guesses reached the store, want 5", n)
		}
	})
	t.Run("R-349 guesses at long ones lock nobody's mailbox", func(t *testing.T) {
		s := newSite(t)
		s.newBrowser().askForMail(owner, "alice@example.com")
		right := strings.TrimPrefix(s.sent()[0].URL, siteOrigin)
		for i := range 200 {
			b := s.newBrowser()
			r := b.request(http.MethodGet, "/auth/callback/post?email=alice@example.com&token=x", "", "")
			r.RemoteAddr = fmt.Sprintf("203.0.113.%d:1", i)
			b.serve(s.auth, r)
		}
		if a := s.newBrowser().get(right); !a.signsIn() {
			t.Errorf("sent to %q", a.location())
		}
	})
	t.Run("R-349 one client's guesses are limited", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Limits.CredentialsPerClient = latchkey.Rate{Events: 7, Per: time.Hour} })
		for i := range 30 {
			s.newBrowser().get(fmt.Sprintf("/auth/callback/post?email=u%d@example.com&token=x", i))
			s.clock.Advance(time.Second) // the log samples
		}
		if n := strings.Count(s.log.text(), "the link is unknown"); n != 7 {
			t.Errorf("%d guesses reached the store, want 7", n)
		}
	})
}

// linkStore is an adapter with links.
type linkStore interface {
	storage.Adapter
	storage.VerificationTokenAdapter
}

// onlyLinks hides everything else that an adapter can do.
type onlyLinks struct{ linkStore }

func randomBelow(n int64) int64 {
	i, err := rand.Int(rand.Reader, big.NewInt(n))
	if err != nil {
		panic(err) // never
	}
	return i.Int64()
}

// randomHexOf makes tokens of so many random hex digits.
func randomHexOf(digits int) func() (string, error) {
	return func() (string, error) {
		raw := make([]byte, digits/2)
		_, err := rand.Read(raw)
		return hex.EncodeToString(raw), err
	}
}
