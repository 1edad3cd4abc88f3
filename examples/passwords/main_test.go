package main

import (
	"cmp"
	"context"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

type visitor struct {
	*testing.T
	*latchkeytest.Client
}

func newTestSite(t *testing.T) (visitor, *latchkeytest.Mailbox, func() visitor) {
	box := &latchkeytest.Mailbox{}
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Adapter: memoryadapter.New(memoryadapter.Options{}), Mail: latchkey.Mail{Send: box.Send},
		Runtime: latchkey.Runtime{Background: func(work func(context.Context)) { work(context.Background()) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	first := latchkeytest.NewClient(t, site)
	return visitor{t, first}, box, func() visitor { return visitor{t, latchkeytest.NewClient(t, site)} }
}

// says follows redirects, and expects a page that says text.
func (v visitor) says(p *latchkeytest.Page, path, text string) *latchkeytest.Page {
	v.Helper()
	for p.Location() != nil {
		p = v.Follow(p)
	}
	if cmp.Or(p.URL.Path, "/") != path || !strings.Contains(string(p.Body), text) {
		v.Fatalf("at %s, not %s, which does not say %q:\n%s", p.URL, path, text, p.Body)
	}
	return p
}

var (
	action = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
	link   = regexp.MustCompile(`<a href="([^"]+)">([^<]+)</a>`)
)

// send fills in the form of a page, as a user would, and sends it.
func (v visitor) send(p *latchkeytest.Page, typed ...string) *latchkeytest.Page {
	v.Helper()
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(string(p.Body), -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	for i := 0; i < len(typed); i += 2 {
		if !strings.Contains(string(p.Body), `name="`+typed[i]+`"`) {
			v.Fatalf("%s has no field %s:\n%s", p.URL, typed[i], p.Body)
		}
		form.Set(typed[i], typed[i+1])
	}
	return v.Post(html.UnescapeString(action.FindStringSubmatch(string(p.Body))[1]), form)
}

// click follows the link of a page with a text.
func (v visitor) click(p *latchkeytest.Page, text string) *latchkeytest.Page {
	v.Helper()
	for _, m := range link.FindAllStringSubmatch(string(p.Body), -1) {
		if m[2] == text {
			return v.Get(html.UnescapeString(m[1]))
		}
	}
	v.Fatalf("%s has no link %q:\n%s", p.URL, text, p.Body)
	return nil
}

func lastTo(t *testing.T, box *latchkeytest.Mailbox, email string) latchkey.Message {
	t.Helper()
	all := box.Messages(email)
	if len(all) == 0 {
		t.Fatalf("%s got no mail", email)
	}
	return all[len(all)-1]
}

func TestPasswords(t *testing.T) {
	v, box, _ := newTestSite(t)
	login := v.says(v.Get("/"), "/login", "Sign in")
	signup := v.says(v.click(login, "Create an account"), "/password", "Create an account")
	v.says(v.send(signup, "email", "ada", "password", "four words are plenty"), "/password", "no e-mail address")
	v.says(v.send(signup, "email", "ada@example.com", "password", "short"), "/password", "at least 8 characters")
	mailed := v.says(v.send(signup, "email", "ada@example.com", "password", "four words are plenty"), "/mailed", "Open the link")
	v.says(v.send(mailed, "code", "00"), "/mailed", `role="alert"`)
	home := v.says(v.send(mailed, "code", lastTo(t, box, "ada@example.com").Code), "/", "Hello, ada@example.com")

	login = v.says(v.send(home), "/login", "Sign in")
	forgot := v.says(v.click(login, "Forgot your password?"), "/password", "Send me a link")
	v.says(v.send(forgot, "email", "ada@example.com"), "/mailed", "If the address has an account")
	unknown := v.says(v.send(forgot, "email", "nobody@example.com"), "/mailed", "If the address has an account")
	if strings.Contains(string(unknown.Body), "<form") || len(box.Messages("nobody@example.com")) > 0 {
		t.Errorf("an address without an account gets more:\n%s", unknown.Body)
	}
	address := lastTo(t, box, "ada@example.com").URL
	reset := v.says(v.Get(address), "/password", "Choose a new password")
	if got := reset.Header.Get("Referrer-Policy"); got != "no-referrer" {
		t.Errorf("a page with the secret of a link has the policy %q", got)
	}
	v.says(v.send(reset, "password", "password"), "/password", "Many people know that password")
	login = v.says(v.send(reset, "password", "a horse with a staple"), "/login", "Your password is saved")
	v.says(v.Get(address), "/oops", "may have been used")
	v.says(v.send(login, "email", "ada@example.com", "password", "four words are plenty"), "/login", `role="alert"`)
	v.says(v.send(login, "email", "ada@example.com", "password", "a horse with a staple"), "/", "Hello, ada@example.com")
}

// The page asks for a code of the app only where the library says that one is wanted.
func TestResetAsksForACode(t *testing.T) {
	v, _, _ := newTestSite(t)
	for query, want := range map[string]bool{"&error=" + string(latchkey.ErrPassword) + "&code=factor": true, "&error=" + string(latchkey.ErrPassword) + "&code=short": false, "&error=Other&code=factor": false, "&code=factor": false, "": false} {
		body := string(v.Get("/password?do=reset&token=t" + query).Body)
		if strings.Contains(body, `name="code"`) != want || strings.Contains(body, "authenticator app") != want || !strings.Contains(body, `name="password"`) {
			t.Errorf("%q: %s", query, body)
		}
	}
}

// The link of a sign-up asks for a password in another browser: an attacker may have
// typed the first one.
func TestLinkInAnotherBrowser(t *testing.T) {
	v, box, other := newTestSite(t)
	signup := v.says(v.Get("/auth/password?do=signup"), "/password", "Create an account")
	v.says(v.send(signup, "email", "eve@example.com", "password", "four words are plenty"), "/mailed", "Open the link")
	address := lastTo(t, box, "eve@example.com").URL
	owner := other()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	verify := owner.says(owner.Get(u.RequestURI()), "/password", "Open my account")
	verify = owner.says(owner.send(verify), "/password", "at least 8 characters")
	owner.says(owner.send(verify, "password", "a horse with a staple"), "/", "Hello, eve@example.com")
	login := v.says(v.Get("/"), "/login", "Sign in")
	v.says(v.send(login, "email", "eve@example.com", "password", "four words are plenty"), "/login", `role="alert"`)
}
