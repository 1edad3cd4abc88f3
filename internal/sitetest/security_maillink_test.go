package sitetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// withEmailProvider changes the e-mail provider.
func withEmailProvider(change func(*latchkey.Email)) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		for i, p := range c.Providers {
			if e, ok := p.(*latchkey.Email); ok {
				changed := *e
				change(&changed)
				c.Providers[i] = &changed
			}
		}
	}
}

const adaEmail = "ada@example.com"

func TestMailLinkUse(t *testing.T) {
	t.Run("R-136 a link works once", func(t *testing.T) {
		s := newSite(t, stored)
		b := s.newBrowser()
		link := b.askForLink(adaEmail)
		if a := b.get(link); !a.signsIn() {
			t.Fatalf("to %q", a.location())
		}
		live(t, b)
		before := s.contents()
		refused(t, s.newBrowser().get(link), "Verification")
		s.noWrite(t, before)
	})
	t.Run("R-137 a hundred at once", func(t *testing.T) {
		s := newSite(t, stored)
		link := s.newBrowser().askForLink(adaEmail)
		var won atomic.Int32
		together(100, func(int) {
			a := s.newBrowser().get(link)
			switch {
			case a.signsIn():
				won.Add(1)
			case a.error() != "Verification":
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
		if c := s.store.Contents(); won.Load() != 1 || len(c.Users) != 1 || len(c.Sessions) != 1 {
			t.Errorf("%d wins, %d users, %d sessions", won.Load(), len(c.Users), len(c.Sessions))
		}
	})
	for name, look := range map[string]func(b *browser, link string) *answer{
		"HEAD":               func(b *browser, link string) *answer { return b.do(http.MethodHead, link, "", "") },
		"OPTIONS":            func(b *browser, link string) *answer { return b.do(http.MethodOptions, link, "", "") },
		"Sec-Purpose":        ahead("Sec-Purpose", "prefetch;prerender"),
		"Purpose":            ahead("Purpose", "prefetch"),
		"Purpose, otherwise": ahead("Purpose", "Prefetch"),
		"X-Moz":              ahead("X-Moz", "prefetch"),
	} {
		t.Run("R-138 "+name, func(t *testing.T) {
			s := newSite(t, stored)
			b := s.newBrowser()
			link := b.askForLink(adaEmail)
			before := s.contents()
			machine := s.newBrowser()
			if a := look(machine, link); a.signsIn() {
				t.Error("a machine was signed in")
			}
			s.noWrite(t, before)
			dead(t, machine)
			if a := b.get(link); !a.signsIn() {
				t.Errorf("the link is spent: to %q", a.location())
			}
		})
	}
	t.Run("R-139 confirmation", func(t *testing.T) {
		s := newSite(t, stored, withEmailProvider(func(p *latchkey.Email) { p.ConfirmLink = new(true) }))
		b := s.newBrowser()
		link := b.askForLink(adaEmail)
		before := s.contents()
		page := b.get(link)
		if page.Code != http.StatusOK || page.signsIn() || !strings.Contains(page.Body.String(), "<form") {
			t.Fatalf("%d to %q", page.Code, page.location())
		}
		if h := page.Header(); !strings.Contains(h.Get("Cache-Control"), "no-store") || h.Get("Referrer-Policy") == "" || h.Get("Content-Security-Policy") == "" {
			t.Errorf("headers %v", h)
		}
		if strings.Contains(page.Body.String(), "src=\"http") {
			t.Error("the page loads something from elsewhere")
		}
		s.noWrite(t, before)
		path, q := linkQuery(link)
		without := b.do(http.MethodPost, path, formContentType, q.Encode())
		refused(t, without, "MissingCSRF")
		s.noWrite(t, before)
		if a := b.post(path, "token", q.Get("token"), "email", q.Get("email")); !a.signsIn() {
			t.Errorf("to %q", a.location())
		}
		refused(t, b.post(path, "token", q.Get("token"), "email", q.Get("email")), "Verification")
	})
	t.Run("R-139 hardened", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Hardened = true })
		b := s.newBrowser()
		if a := b.get(b.askForLink(adaEmail)); a.Code != http.StatusOK || a.signsIn() {
			t.Errorf("%d to %q: want a page", a.Code, a.location())
		}
		if life := s.sent()[0].Expires.Sub(s.clock.Now()); life != 10*time.Minute {
			t.Errorf("the link lives for %v", life)
		}
	})
	t.Run("R-140 on the second", func(t *testing.T) {
		for _, late := range []bool{false, true} {
			s := newSite(t, stored)
			b := s.newBrowser()
			link := b.askForLink(adaEmail)
			s.clock.Advance(24*time.Hour - time.Millisecond)
			if late {
				s.clock.Advance(time.Millisecond)
			}
			a := b.get(link)
			if !late && !a.signsIn() {
				t.Errorf("too early: to %q", a.location())
			}
			if late {
				refused(t, a, "Verification")
				if c := s.store.Contents(); len(c.VerificationTokens)+len(c.Users) != 0 {
					t.Error("the row is left, or a user was made")
				}
			}
		}
	})
	t.Run("R-140 more than a day warns", func(t *testing.T) {
		s := newSite(t, withEmailProvider(func(p *latchkey.Email) { p.MaxAge = 25 * time.Hour }))
		if !strings.Contains(s.log.text(), "24 hours") {
			t.Error("no warning")
		}
	})
	for name, spoil := range map[string]func(token, email string) (string, string){
		"another e-mail":        func(token, _ string) (string, string) { return token, "mallory@example.com" },
		"no e-mail":             func(token, _ string) (string, string) { return token, "" },
		"another spelling":      func(token, _ string) (string, string) { return token, "ADA@example.com" },
		"another token":         func(_, email string) (string, string) { return strings.Repeat("0", 64), email },
		"the token in capitals": func(token, email string) (string, string) { return strings.ToUpper(token), email },
		"two e-mails":           func(token, email string) (string, string) { return token, email + ",mallory@example.com" },
		"a wildcard":            func(token, _ string) (string, string) { return token, "%" },
		"the token and a blank": func(token, email string) (string, string) { return token + " ", email },
		"NUL behind the e-mail": func(token, email string) (string, string) { return token, email + "\x00" },
	} {
		t.Run("R-141 "+name, func(t *testing.T) {
			s := newSite(t, stored)
			b := s.newBrowser()
			b.askForLink("mallory@example.com")
			link := b.askForLink(adaEmail)
			path, q := linkQuery(link)
			token, email := spoil(q.Get("token"), q.Get("email"))
			before := s.contents()
			q.Set("token", token)
			q.Set("email", email)
			refused(t, s.newBrowser().get(path+"?"+q.Encode()), "Verification")
			s.noWrite(t, before)
			if a := s.newBrowser().get(link); !a.signsIn() {
				t.Errorf("the true link is spent: to %q", a.location())
			}
		})
	}
	t.Run("R-141 a store that looks at the token alone", func(t *testing.T) {
		loose := &looseStore{newSite(t).store}
		s := newSite(t, stored, func(c *latchkey.Config) { c.Adapter = loose })
		path, q := linkQuery(s.newBrowser().askForLink("mallory@example.com"))
		q.Set("email", adaEmail)
		refused(t, s.newBrowser().get(path+"?"+q.Encode()), "Configuration")
		if n := len(loose.Contents().Users); n != 0 {
			t.Errorf("%d users", n)
		}
	})
	t.Run("R-141 no token", func(t *testing.T) {
		s := newSite(t)
		refused(t, s.newBrowser().get("/auth/callback/post?email="+adaEmail), "Configuration")
	})
	t.Run("R-142 only a keyed hash is stored", func(t *testing.T) {
		s := newSite(t)
		b := s.newBrowser()
		path, q := linkQuery(b.askForLink(adaEmail))
		row := s.store.Contents().VerificationTokens[0]
		if strings.Contains(s.contents()+s.log.text(), q.Get("token")) || len(row.Token) != 64 {
			t.Error("the token is in the store or the log")
		}
		q.Set("token", row.Token)
		refused(t, s.newBrowser().get(path+"?"+q.Encode()), "Verification")
		other := newSite(t, func(c *latchkey.Config) {
			c.Adapter, c.Secrets = s.store, []string{"another site's secret, long enough"}
		})
		_, q = linkQuery(s.sent()[0].URL)
		refused(t, other.newBrowser().get(path+"?"+q.Encode()), "Verification")
	})
	t.Run("R-139 another browser, where that matters", func(t *testing.T) {
		s := newSite(t, stored, withEmailProvider(func(p *latchkey.Email) { p.SameBrowser = true }))
		b := s.newBrowser()
		link := b.askForLink(adaEmail)
		before := s.contents()
		refused(t, s.newBrowser().get(link), "Verification")
		s.noWrite(t, before)
		if a := b.get(link); !a.signsIn() {
			t.Errorf("to %q", a.location())
		}
	})
}

// looseStore finds a link whoever it was sent to, as a careless adapter may.
type looseStore struct{ *memoryadapter.Adapter }

func (s *looseStore) UseVerificationToken(ctx context.Context, _, token string) (storage.VerificationToken, error) {
	for _, row := range s.Contents().VerificationTokens {
		if row.Token == token {
			return s.Adapter.UseVerificationToken(ctx, row.Identifier, token)
		}
	}
	return storage.VerificationToken{}, latchkey.ErrNotFound
}

func ahead(name, value string) func(b *browser, link string) *answer {
	return func(b *browser, link string) *answer {
		b.header.Set(name, value)
		defer b.header.Del(name)
		return b.get(link)
	}
}

// together runs n calls of f at the same moment.
func together(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			f(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// hostileMailboxes are meant to become something other than one plain mailbox.
func hostileMailboxes() []string {
	list := []string{
		"", " ", "@", "ada", "ada@", "@example.com", "ada@@example.com", "a@b@example.com", "ada@example.com@evil.example",
		`"ada"@example.com`, `"ada@evil.example"@example.com`, "ada@example.com>", "<ada@example.com>", "Ada <ada@example.com>", "ada(comment)@example.com",
		"ada@example.com;mallory@evil.example", "ada@[127.0.0.1]", "ada@example..com", "ada@.example.com", "ada@example.com.", "ada@-example.com", "ada@example-.com",
		".ada@example.com", "ada.@example.com", "a..da@example.com", "ada@exam ple.com", "a da@example.com", "ada\\@example.com", "ada@example.com\\", "mailto:ada@example.com",
		"mallory@evil.example,ada@example.com", "ada,mallory@example.com", "ada@example.com:25", "ada@exa_mple.com", "ada@exam/ple.com", "ada@example.com?bcc=mallory@evil.example",
		strings.Repeat("a", 65) + "@example.com", "ada@" + strings.Repeat("a", 64) + ".com", "ada@" + strings.Repeat("abcdefgh.", 32) + "com", strings.Repeat("a", 2000) + "@example.com",
		"ada＠example.com＠evil.example", "ada@example.com＠evil.example", "ada@e\u200bxample.com", "ada\u00ad@example.com", "a\u202eda@example.com", "ada@example。。com", "ada@exam\u2028ple.com", "ada@example。com", "ada@ex\ufeffample.com", "\xff@example.com", "ada@\xffexample.com",
		"ada﹫evil.example@example.com", "ada@example.com﹐mallory@evil.example", "＂ada＂@example.com", "ada＜@example.com", "ada@example．．com",
	}
	for b := range 0x20 {
		if b != '\t' && b != '\n' && b != '\v' && b != '\f' && b != '\r' {
			list = append(list, "ada@example.com"+string(rune(b))) // others are trimmed at the end
		}
		list = append(list, "a"+string(rune(b))+"da@example.com", "ada@exa"+string(rune(b))+"mple.com",
			"ada@example.com"+string(rune(b))+"bcc:mallory@evil.example", "ada"+string(rune(b))+"mallory@evil.example@example.com")
	}
	for b := 0x7f; b < 0xa0; b++ {
		if b != 0x85 { // a line end in Unicode, trimmed at the end
			list = append(list, "ada@example.com"+string(rune(b)))
		}
		list = append(list, "a"+string(rune(b))+"da@example.com", "ada@exa"+string(rune(b))+"mple.com")
	}
	for _, special := range []string{"\"", "<", ">", ";", ":", "(", ")", "[", "]", "\\", " ", "\t", "\u00a0", "\u2003", "\u3000"} {
		list = append(list, "a"+special+"da@example.com", "ada@exa"+special+"mple.com", "ada@example.com"+special+"x", "x"+special+"ada@example.com")
	}
	return list
}

func TestMailEmail(t *testing.T) {
	hostile := hostileMailboxes()
	if len(hostile) < 300 {
		t.Errorf("%d mailboxes", len(hostile))
	}
	s := newSite(t, func(c *latchkey.Config) { c.Limits.Disabled = true })
	b := s.newBrowser()
	for _, email := range hostile {
		t.Run(fmt.Sprintf("R-144 %.40q", email), func(t *testing.T) {
			before, mails := s.contents(), len(s.sent())
			refused(t, b.post("/auth/signin/post", "email", email), "Configuration")
			s.noWrite(t, before)
			if links := s.sent(); len(links) != mails {
				t.Errorf("a link went to %q", links[mails].To)
			}
		})
	}
	for typed, want := range map[string]string{
		" ADA@Example.COM ":                      adaEmail,
		"ada@example.com,mallory@evil.example.x": "", // two signs
		"ada@example.com,evil.example":           adaEmail,
		"ａｄａ@example.com":                        adaEmail, // as East Asian keyboards type it
		"ada+tag@sub.example.com":                "ada+tag@sub.example.com",
		"o'brien@example.com":                    "o'brien@example.com",
		"ada@localhost":                          "ada@localhost",
		strings.Repeat("a", 64) + "@example.com": strings.Repeat("a", 64) + "@example.com",
	} {
		t.Run(fmt.Sprintf("R-144 %.40q is taken as %.20q", typed, want), func(t *testing.T) {
			s := newSite(t)
			a := s.newBrowser().post("/auth/signin/post", "email", typed)
			links := s.sent()
			if want == "" {
				refused(t, a, "Configuration")
			} else if len(links) != 1 || links[0].To != want || s.store.Contents().VerificationTokens[0].Identifier != want {
				t.Errorf("links %v", links)
			}
		})
	}
	t.Run("R-144 a list where text belongs", func(t *testing.T) {
		s := newSite(t)
		refused(t, s.newBrowser().postJSON("/auth/signin/post", map[string]any{"email": []string{adaEmail, "mallory@evil.example"}}), "Configuration")
		if len(s.sent()) != 0 {
			t.Error("a link was sent")
		}
	})
	t.Run("R-144 the operator's own normalisation is looked at too", func(t *testing.T) {
		s := newSite(t, withEmailProvider(func(p *latchkey.Email) {
			p.Normalize = func(string) (string, error) { return "ada@example.com\r\nBcc: mallory@evil.example", nil }
		}))
		refused(t, s.newBrowser().post("/auth/signin/post", "email", adaEmail), "Configuration")
		if len(s.sent()) != 0 {
			t.Error("a link was sent")
		}
	})
}

func TestMailAsking(t *testing.T) {
	view := func(a *answer) string {
		h := a.Header().Clone()
		h.Del("Set-Cookie")
		return fmt.Sprint(a.Code, h, a.Body)
	}
	t.Run("R-147 known and unknown look alike", func(t *testing.T) {
		s := newSite(t)
		s.addUser(latchkey.User{ID: "u1", Email: adaEmail, Name: "Ada"})
		known, unknown := s.newBrowser().post("/auth/signin/post", "email", adaEmail), s.newBrowser().post("/auth/signin/post", "email", "nobody@example.com")
		if view(known) != view(unknown) || len(s.sent()) != 2 {
			t.Errorf("known   %s\nunknown %s", view(known), view(unknown))
		}
	})
	t.Run("R-147 R-148 over the limit of one e-mail", func(t *testing.T) {
		s := newSite(t)
		first := s.newBrowser().post("/auth/signin/post", "email", adaEmail)
		for range 9 {
			if a := s.newBrowser().post("/auth/signin/post", "email", adaEmail); view(a) != view(first) {
				t.Errorf("answered %s", view(a))
			}
		}
		if n := len(s.sent()); n != 5 || len(s.store.Contents().VerificationTokens) != 5 {
			t.Errorf("%d links", n)
		}
		s.newBrowser().post("/auth/signin/post", "email", " ADA@example.com")
		if len(s.sent()) != 5 {
			t.Error("another spelling has a limit of its own")
		}
		s.clock.Advance(15 * time.Minute)
		s.newBrowser().post("/auth/signin/post", "email", adaEmail)
		if len(s.sent()) != 6 {
			t.Error("the limit does not end")
		}
	})
	t.Run("R-148 over the limit of a client", func(t *testing.T) {
		s := newSite(t)
		for i := range 40 {
			s.newBrowser().post("/auth/signin/post", "email", fmt.Sprintf("ada%d@example.com", i))
		}
		if n := len(s.sent()); n != 30 {
			t.Errorf("%d links", n)
		}
	})
	t.Run("R-148 a hundred at once", func(t *testing.T) {
		s := newSite(t)
		browsers := make([]*browser, 100)
		for i := range browsers {
			browsers[i] = s.newBrowser()
			browsers[i].token()
		}
		together(100, func(i int) { browsers[i].post("/auth/signin/post", "email", adaEmail) })
		if n := len(s.sent()); n != 5 {
			t.Errorf("%d links", n)
		}
	})
	t.Run("R-149 a store that fails sends nothing", func(t *testing.T) {
		broken := newFaultyStore()
		broken.fail("CreateVerificationToken", faultBefore)
		s := newSite(t, func(c *latchkey.Config) { c.Adapter = broken })
		refused(t, s.newBrowser().post("/auth/signin/post", "email", adaEmail), "Configuration")
		if len(s.sent()) != 0 {
			t.Error("a link that cannot work was sent")
		}
	})
	for name, send := range map[string]func(context.Context, latchkey.Message) error{
		"fails":  func(_ context.Context, m latchkey.Message) error { return errors.New("cannot send " + m.URL) },
		"panics": func(_ context.Context, m latchkey.Message) error { panic("cannot send " + m.URL) },
	} {
		t.Run("R-149 a mailer that "+name+" leaves no row", func(t *testing.T) {
			var link latchkey.Message
			rows := 0
			var s *testSite
			s = newSite(t, withEmailProvider(func(p *latchkey.Email) {
				p.Send = func(ctx context.Context, m latchkey.Message) error {
					link, rows = m, len(s.store.Contents().VerificationTokens)
					return send(ctx, m)
				}
			}))
			refused(t, s.newBrowser().post("/auth/signin/post", "email", adaEmail), "Configuration")
			if rows != 1 {
				t.Error("the mail left before the row was there")
			}
			if len(s.store.Contents().VerificationTokens) != 0 {
				t.Error("the row is left")
			}
			if strings.Contains(s.log.text(), link.Token) {
				t.Error("the token is in the log")
			}
		})
	}
}

// withSecondEmail adds a provider like the first one of magic links.
func withSecondEmail(id string, change func(*latchkey.Email)) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		second := *emailOf(c)
		second.ID = id
		change(&second)
		c.Providers = append(c.Providers, &second)
	}
}

// what one provider has sent is worth nothing at another, which may ask
// for less.
func TestEmailProvidersAcceptNothingOfEachOther(t *testing.T) {
	short := func(e *latchkey.Email) {
		e.MaxAge = 10 * time.Minute
		e.NewToken = func() (string, error) { return fmt.Sprintf("%06d", randomBelow(1_000_000)), nil }
	}
	strict := func(e *latchkey.Email) { e.SameBrowser, e.ConfirmLink = true, new(true) }
	first := func(c *latchkey.Config) { // the second one of withSecondEmail comes first
		last := len(c.Providers) - 1
		c.Providers = append([]latchkey.Provider{c.Providers[last]}, c.Providers[:last]...)
	}
	shared := func(c *latchkey.Config) {
		for _, p := range c.Providers {
			if e, ok := p.(*latchkey.Email); ok {
				e.Secret = "one secret for both of them"
			}
		}
	}
	as := func(*latchkey.Config) {}
	for name, c := range map[string]struct {
		second func(*latchkey.Email)
		change func(*latchkey.Config)
	}{
		"short codes at long ones":            {short, as},
		"short codes, configured first":       {short, first},
		"short codes, with a secret of both":  {short, shared},
		"short codes and their own secret":    {func(e *latchkey.Email) { short(e); e.Secret = "another secret of theirs" }, as},
		"one browser at any":                  {strict, as},
		"one browser at any, with one secret": {strict, shared},
	} {
		t.Run("R-349 "+name, func(t *testing.T) {
			s := newSite(t, stored, withSecondEmail("second", c.second), c.change)
			for _, way := range [][2]string{{"second", "post"}, {"post", "second"}} {
				b := s.newBrowser()
				b.post("/auth/signin/"+way[0], "email", adaEmail)
				links := s.sent()
				own := strings.TrimPrefix(links[len(links)-1].URL, siteOrigin)
				if a := s.newBrowser().get(strings.Replace(own, "callback/"+way[0], "callback/"+way[1], 1)); a.signsIn() {
					t.Errorf("what %s sent signs in at %s", way[0], way[1])
				}
				a := b.get(own)
				if a.Code == http.StatusOK { // a button
					a = b.post("/auth/callback/"+way[0], "token", links[len(links)-1].Token, "email", adaEmail)
				}
				if !a.signsIn() {
					t.Errorf("what %s sent does not sign in there: %d to %q", way[0], a.Code, a.location())
				}
			}
		})
	}
	t.Run("R-349 hashes are those of Auth.js where a provider is alone with its secret", func(t *testing.T) {
		s := newSite(t, stored, withSecondEmail("second", func(e *latchkey.Email) { e.Secret = "another secret of theirs" }))
		for id, secret := range map[string]string{"post": s.config.Secrets[0], "second": "another secret of theirs"} {
			s.newBrowser().post("/auth/signin/"+id, "email", id+"@example.com")
			links := s.sent()
			sum := sha256.Sum256([]byte(links[len(links)-1].Token + secret))
			rows := s.store.Contents().VerificationTokens
			if !slices.ContainsFunc(rows, func(r storage.VerificationToken) bool { return r.Token == hex.EncodeToString(sum[:]) }) {
				t.Errorf("%s: no row with the hash of Auth.js", id)
			}
		}
	})
}

// the cookies of a request for a link tell nothing of the limits of its mailbox, which
// the owner of a known address may have used up. The link that was sent before stays good.
func TestLinkTooManyLooksLikeOne(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) {
		c.Limits.MailsPerRecipient = latchkey.Rate{Events: 1, Per: time.Hour}
		for _, p := range c.Providers {
			if e, ok := p.(*latchkey.Email); ok {
				e.SameBrowser = true
			}
		}
	})
	b := s.newBrowser()
	shape := func(a *answer) (names []string) {
		for _, c := range a.Result().Cookies() {
			names = append(names, fmt.Sprint(c.Name, len(c.Value)))
		}
		return names
	}
	b.token()
	sent := shape(b.post("/auth/signin/post", "email", adaEmail))
	stranger := s.newBrowser()
	stranger.token()
	for name, other := range map[string]*browser{"the same browser": b, "another browser": stranger} {
		if refused := shape(other.post("/auth/signin/post", "email", adaEmail)); fmt.Sprint(refused) != fmt.Sprint(sent) {
			t.Errorf("%s: %v, want %v", name, refused, sent)
		}
	}
	if n := len(s.sent()); n != 1 {
		t.Fatalf("%d mails", n)
	}
	if a := b.get(path(s.sent()[0])); a.error() != "" {
		t.Errorf("the link that was sent leads to %q", a.location())
	}
}
