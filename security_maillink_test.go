package latchkey_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// atPost changes the e-mail provider.
func atPost(change func(*latchkey.Email)) func(*latchkey.Config) {
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

const adasAddress = "ada@example.com"

func TestMailLinkUse(t *testing.T) {
	t.Run("R-136 a link works once", func(t *testing.T) {
		d := openDesk(t, stored)
		g := d.guest()
		link := g.askForLink(adasAddress)
		if a := g.get(link); !a.signsIn() {
			t.Fatalf("to %q", a.location())
		}
		live(t, g)
		before := d.contents()
		refused(t, d.guest().get(link), "Verification")
		d.noWrite(t, before)
	})
	t.Run("R-137 a hundred at once", func(t *testing.T) {
		d := openDesk(t, stored)
		link := d.guest().askForLink(adasAddress)
		var won atomic.Int32
		together(100, func(int) {
			a := d.guest().get(link)
			switch {
			case a.signsIn():
				won.Add(1)
			case a.error() != "Verification":
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
		if c := d.store.Contents(); won.Load() != 1 || len(c.Users) != 1 || len(c.Sessions) != 1 {
			t.Errorf("%d wins, %d users, %d sessions", won.Load(), len(c.Users), len(c.Sessions))
		}
	})
	for name, look := range map[string]func(g *guest, link string) *answer{
		"HEAD":               func(g *guest, link string) *answer { return g.ask(http.MethodHead, link, "", "") },
		"OPTIONS":            func(g *guest, link string) *answer { return g.ask(http.MethodOptions, link, "", "") },
		"Sec-Purpose":        ahead("Sec-Purpose", "prefetch;prerender"),
		"Purpose":            ahead("Purpose", "prefetch"),
		"Purpose, otherwise": ahead("Purpose", "Prefetch"),
		"X-Moz":              ahead("X-Moz", "prefetch"),
	} {
		t.Run("R-138 "+name, func(t *testing.T) {
			d := openDesk(t, stored)
			g := d.guest()
			link := g.askForLink(adasAddress)
			before := d.contents()
			machine := d.guest()
			if a := look(machine, link); a.signsIn() {
				t.Error("a machine was signed in")
			}
			d.noWrite(t, before)
			dead(t, machine)
			if a := g.get(link); !a.signsIn() {
				t.Errorf("the link is spent: to %q", a.location())
			}
		})
	}
	t.Run("R-139 confirmation", func(t *testing.T) {
		d := openDesk(t, stored, atPost(func(p *latchkey.Email) { p.ConfirmLink = true }))
		g := d.guest()
		link := g.askForLink(adasAddress)
		before := d.contents()
		page := g.get(link)
		if page.Code != http.StatusOK || page.signsIn() || !strings.Contains(page.Body.String(), "<form") {
			t.Fatalf("%d to %q", page.Code, page.location())
		}
		if h := page.Header(); !strings.Contains(h.Get("Cache-Control"), "no-store") || h.Get("Referrer-Policy") == "" || h.Get("Content-Security-Policy") == "" {
			t.Errorf("headers %v", h)
		}
		if strings.Contains(page.Body.String(), "src=\"http") {
			t.Error("the page loads something from elsewhere")
		}
		d.noWrite(t, before)
		path, q := linkQuery(link)
		without := g.ask(http.MethodPost, path, deskForm, q.Encode())
		refused(t, without, "MissingCSRF")
		d.noWrite(t, before)
		if a := g.post(path, "token", q.Get("token"), "email", q.Get("email")); !a.signsIn() {
			t.Errorf("to %q", a.location())
		}
		refused(t, g.post(path, "token", q.Get("token"), "email", q.Get("email")), "Verification")
	})
	t.Run("R-139 hardened", func(t *testing.T) {
		d := openDesk(t, func(c *latchkey.Config) { c.Hardened = true })
		g := d.guest()
		if a := g.get(g.askForLink(adasAddress)); a.Code != http.StatusOK || a.signsIn() {
			t.Errorf("%d to %q: want a page", a.Code, a.location())
		}
		if life := d.sent()[0].Expires.Sub(d.clock.now()); life != 10*time.Minute {
			t.Errorf("the link lives for %v", life)
		}
	})
	t.Run("R-140 on the second", func(t *testing.T) {
		for _, late := range []bool{false, true} {
			d := openDesk(t, stored)
			g := d.guest()
			link := g.askForLink(adasAddress)
			d.clock.pass(24*time.Hour - time.Millisecond)
			if late {
				d.clock.pass(time.Millisecond)
			}
			a := g.get(link)
			if !late && !a.signsIn() {
				t.Errorf("too early: to %q", a.location())
			}
			if late {
				refused(t, a, "Verification")
				if c := d.store.Contents(); len(c.VerificationTokens)+len(c.Users) != 0 {
					t.Error("the row is left, or a user was made")
				}
			}
		}
	})
	t.Run("R-140 more than a day warns", func(t *testing.T) {
		d := openDesk(t, atPost(func(p *latchkey.Email) { p.MaxAge = 25 * time.Hour }))
		if !strings.Contains(d.log.text(), "24 hours") {
			t.Error("no warning")
		}
	})
	for name, spoil := range map[string]func(token, address string) (string, string){
		"another address":        func(token, _ string) (string, string) { return token, "mallory@example.com" },
		"no address":             func(token, _ string) (string, string) { return token, "" },
		"another spelling":       func(token, _ string) (string, string) { return token, "ADA@example.com" },
		"another token":          func(_, address string) (string, string) { return strings.Repeat("0", 64), address },
		"the token in capitals":  func(token, address string) (string, string) { return strings.ToUpper(token), address },
		"two addresses":          func(token, address string) (string, string) { return token, address + ",mallory@example.com" },
		"a wildcard":             func(token, _ string) (string, string) { return token, "%" },
		"the token and a blank":  func(token, address string) (string, string) { return token + " ", address },
		"NUL behind the address": func(token, address string) (string, string) { return token, address + "\x00" },
	} {
		t.Run("R-141 "+name, func(t *testing.T) {
			d := openDesk(t, stored)
			g := d.guest()
			g.askForLink("mallory@example.com")
			link := g.askForLink(adasAddress)
			path, q := linkQuery(link)
			token, address := spoil(q.Get("token"), q.Get("email"))
			before := d.contents()
			q.Set("token", token)
			q.Set("email", address)
			refused(t, d.guest().get(path+"?"+q.Encode()), "Verification")
			d.noWrite(t, before)
			if a := d.guest().get(link); !a.signsIn() {
				t.Errorf("the true link is spent: to %q", a.location())
			}
		})
	}
	t.Run("R-141 a store that looks at the token alone", func(t *testing.T) {
		loose := &looseStore{openDesk(t).store}
		d := openDesk(t, stored, func(c *latchkey.Config) { c.Adapter = loose })
		path, q := linkQuery(d.guest().askForLink("mallory@example.com"))
		q.Set("email", adasAddress)
		refused(t, d.guest().get(path+"?"+q.Encode()), "Verification")
		if n := len(loose.Contents().Users); n != 0 {
			t.Errorf("%d users", n)
		}
	})
	t.Run("R-141 no token", func(t *testing.T) {
		d := openDesk(t)
		refused(t, d.guest().get("/auth/callback/post?email="+adasAddress), "Configuration")
	})
	t.Run("R-142 only a keyed hash is stored", func(t *testing.T) {
		d := openDesk(t)
		g := d.guest()
		path, q := linkQuery(g.askForLink(adasAddress))
		row := d.store.Contents().VerificationTokens[0]
		if strings.Contains(d.contents()+d.log.text(), q.Get("token")) || len(row.Token) != 64 {
			t.Error("the token is in the store or the log")
		}
		q.Set("token", row.Token)
		refused(t, d.guest().get(path+"?"+q.Encode()), "Verification")
		other := openDesk(t, func(c *latchkey.Config) {
			c.Adapter, c.Secrets = d.store, []string{"another site's secret, long enough"}
		})
		_, q = linkQuery(d.sent()[0].URL)
		refused(t, other.guest().get(path+"?"+q.Encode()), "Verification")
	})
	t.Run("R-139 another browser, where that matters", func(t *testing.T) {
		d := openDesk(t, stored, atPost(func(p *latchkey.Email) { p.SameBrowser = true }))
		g := d.guest()
		link := g.askForLink(adasAddress)
		before := d.contents()
		refused(t, d.guest().get(link), "Verification")
		d.noWrite(t, before)
		if a := g.get(link); !a.signsIn() {
			t.Errorf("to %q", a.location())
		}
	})
}

// looseStore finds a link whoever it was sent to, as a careless adapter may.
type looseStore struct{ *memoryadapter.Adapter }

func (s *looseStore) UseVerificationToken(ctx context.Context, _, token string) (latchkey.VerificationToken, error) {
	for _, row := range s.Contents().VerificationTokens {
		if row.Token == token {
			return s.Adapter.UseVerificationToken(ctx, row.Identifier, token)
		}
	}
	return latchkey.VerificationToken{}, latchkey.ErrNotFound
}

func ahead(name, value string) func(g *guest, link string) *answer {
	return func(g *guest, link string) *answer {
		g.header.Set(name, value)
		defer g.header.Del(name)
		return g.get(link)
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

func TestMailAddress(t *testing.T) {
	hostile := hostileMailboxes()
	if len(hostile) < 300 {
		t.Errorf("%d addresses", len(hostile))
	}
	d := openDesk(t, func(c *latchkey.Config) { c.Limits.Disabled = true })
	g := d.guest()
	for _, address := range hostile {
		t.Run(fmt.Sprintf("R-144 %.40q", address), func(t *testing.T) {
			before, mails := d.contents(), len(d.sent())
			refused(t, g.post("/auth/signin/post", "email", address), "Configuration")
			d.noWrite(t, before)
			if links := d.sent(); len(links) != mails {
				t.Errorf("a link went to %q", links[mails].To)
			}
		})
	}
	for typed, want := range map[string]string{
		" ADA@Example.COM ":                      adasAddress,
		"ada@example.com,mallory@evil.example.x": "", // two signs
		"ada@example.com,evil.example":           adasAddress,
		"ａｄａ@example.com":                        adasAddress,
		"ada+tag@sub.example.com":                "ada+tag@sub.example.com",
		"o'brien@example.com":                    "o'brien@example.com",
		"ada@localhost":                          "ada@localhost",
		strings.Repeat("a", 64) + "@example.com": strings.Repeat("a", 64) + "@example.com",
	} {
		t.Run(fmt.Sprintf("R-144 %.40q is taken as %.20q", typed, want), func(t *testing.T) {
			d := openDesk(t)
			a := d.guest().post("/auth/signin/post", "email", typed)
			links := d.sent()
			if want == "" {
				refused(t, a, "Configuration")
			} else if len(links) != 1 || links[0].To != want || d.store.Contents().VerificationTokens[0].Identifier != want {
				t.Errorf("links %v", links)
			}
		})
	}
	t.Run("R-144 a list where text belongs", func(t *testing.T) {
		d := openDesk(t)
		refused(t, d.guest().postJSON("/auth/signin/post", map[string]any{"email": []string{adasAddress, "mallory@evil.example"}}), "Configuration")
		if len(d.sent()) != 0 {
			t.Error("a link was sent")
		}
	})
	t.Run("R-144 the operator's own normalisation is looked at too", func(t *testing.T) {
		d := openDesk(t, atPost(func(p *latchkey.Email) {
			p.Normalize = func(string) (string, error) { return "ada@example.com\r\nBcc: mallory@evil.example", nil }
		}))
		refused(t, d.guest().post("/auth/signin/post", "email", adasAddress), "Configuration")
		if len(d.sent()) != 0 {
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
		d := openDesk(t)
		d.addUser(latchkey.User{ID: "u1", Email: adasAddress, Name: "Ada"})
		known, unknown := d.guest().post("/auth/signin/post", "email", adasAddress), d.guest().post("/auth/signin/post", "email", "nobody@example.com")
		if view(known) != view(unknown) || len(d.sent()) != 2 {
			t.Errorf("known   %s\nunknown %s", view(known), view(unknown))
		}
	})
	t.Run("R-147 R-148 over the limit of an address", func(t *testing.T) {
		d := openDesk(t)
		first := d.guest().post("/auth/signin/post", "email", adasAddress)
		for range 9 {
			if a := d.guest().post("/auth/signin/post", "email", adasAddress); view(a) != view(first) {
				t.Errorf("answered %s", view(a))
			}
		}
		if n := len(d.sent()); n != 5 || len(d.store.Contents().VerificationTokens) != 5 {
			t.Errorf("%d links", n)
		}
		d.guest().post("/auth/signin/post", "email", " ADA@example.com")
		if len(d.sent()) != 5 {
			t.Error("another spelling has a limit of its own")
		}
		d.clock.pass(15 * time.Minute)
		d.guest().post("/auth/signin/post", "email", adasAddress)
		if len(d.sent()) != 6 {
			t.Error("the limit does not end")
		}
	})
	t.Run("R-148 over the limit of a client", func(t *testing.T) {
		d := openDesk(t)
		for i := range 40 {
			d.guest().post("/auth/signin/post", "email", fmt.Sprintf("ada%d@example.com", i))
		}
		if n := len(d.sent()); n != 30 {
			t.Errorf("%d links", n)
		}
	})
	t.Run("R-148 a hundred at once", func(t *testing.T) {
		d := openDesk(t)
		guests := make([]*guest, 100)
		for i := range guests {
			guests[i] = d.guest()
			guests[i].token()
		}
		together(100, func(i int) { guests[i].post("/auth/signin/post", "email", adasAddress) })
		if n := len(d.sent()); n != 5 {
			t.Errorf("%d links", n)
		}
	})
	t.Run("R-149 a store that fails sends nothing", func(t *testing.T) {
		broken := newFaultyStore()
		broken.fail("CreateVerificationToken", faultBefore)
		d := openDesk(t, func(c *latchkey.Config) { c.Adapter = broken })
		refused(t, d.guest().post("/auth/signin/post", "email", adasAddress), "Configuration")
		if len(d.sent()) != 0 {
			t.Error("a link that cannot work was sent")
		}
	})
	for name, send := range map[string]func(context.Context, latchkey.SignInLink) error{
		"fails":  func(_ context.Context, l latchkey.SignInLink) error { return errors.New("cannot send " + l.URL) },
		"panics": func(_ context.Context, l latchkey.SignInLink) error { panic("cannot send " + l.URL) },
	} {
		t.Run("R-149 a mailer that "+name+" leaves no row", func(t *testing.T) {
			var link latchkey.SignInLink
			rows := 0
			var d *desk
			d = openDesk(t, atPost(func(p *latchkey.Email) {
				p.Send = func(ctx context.Context, l latchkey.SignInLink) error {
					link, rows = l, len(d.store.Contents().VerificationTokens)
					return send(ctx, l)
				}
			}))
			refused(t, d.guest().post("/auth/signin/post", "email", adasAddress), "Configuration")
			if rows != 1 {
				t.Error("the mail left before the row was there")
			}
			if len(d.store.Contents().VerificationTokens) != 0 {
				t.Error("the row is left")
			}
			if strings.Contains(d.log.text(), link.Token) {
				t.Error("the token is in the log")
			}
		})
	}
}
