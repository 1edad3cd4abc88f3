package frameworktest

import (
	"errors"
	"net/http"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// guardCases are about who may come in, and what is asked for that.
var guardCases = []testCase{
	{"RequireSession sends people to the sign-in page and tells scripts", func(f *framework) {
		f.members(new(tally), RequireSession, nil)
	}, func(t *testing.T, f *framework) {
		c := f.open()
		p := c.Get("/members?x=y")
		leads(t, p, f.url+"/auth/signin")
		if back := p.Location().Query().Get("callbackUrl"); back != f.url+"/members?x=y" {
			t.Errorf("the way back is %q", back)
		}
		answers(t, c.Fetch("GET", "/members", nil, nil), http.StatusUnauthorized, "")
		htmx := c.Fetch("GET", "/members", nil, http.Header{"Hx-Request": {"true"}})
		if answers(t, htmx, http.StatusUnauthorized, ""); htmx.Header.Get("Hx-Redirect") == "" {
			t.Error("htmx is not told where to go")
		}
		answers(t, f.openAs("Ada").Get("/members"), http.StatusOK, "here is Ada")
	}},
	{"a guard leads a refused post back to the page with its form", func(f *framework) {
		f.post("/members/note", RequireSession, who)
	}, func(t *testing.T, f *framework) {
		for referer, want := range map[string]string{f.url + "/members": f.url + "/members", "https://evil.example/members": f.url, "": f.url} {
			p := f.open().Fetch("POST", "/members/note", nil, http.Header{"Accept": {"text/html"}, "Sec-Fetch-Mode": {"navigate"}, "Referer": {referer}})
			leads(t, p, f.url+"/auth/signin")
			if back := p.Location().Query().Get("callbackUrl"); back != want {
				t.Errorf("R-705: from %q the way back is %q, want %q", referer, back, want)
			}
		}
	}},
	{"what a guard refuses, no handler sees", func(f *framework) {
		seen := new(tally)
		f.members(seen, RequireSession, nil)
		f.page("/seen", Unguarded, func(c Context) {
			if seen.count("member") > 0 {
				c.Write(http.StatusOK, "the handler ran")
				return
			}
			c.Write(http.StatusOK, "untouched")
		})
	}, func(t *testing.T, f *framework) {
		c := f.open()
		c.Get("/members")
		c.Fetch("GET", "/members", nil, nil)
		answers(t, c.Get("/seen"), http.StatusOK, "untouched")
	}},
	{"Authorize asks the application", func(f *framework) {
		f.members(new(tally), Authorize, func(path string, s *latchkey.Session) error {
			switch {
			case s == nil:
				return latchkey.ErrNoSession
			case path != "/members":
				return errors.New("asked about " + path)
			case s.User.Name == "Ada":
				return nil
			case s.User.Name == "Grace":
				return latchkey.RedirectTo("/elsewhere")
			case s.User.Name == "Alan":
				return latchkey.RespondWith(&latchkey.Response{Status: http.StatusTeapot, Body: []byte("short and stout")})
			case s.User.Name == "Kurt":
				panic("incomplete")
			case s.User.Name == "Haskell":
				return errors.New("curry")
			}
			return latchkey.ErrAccessDenied
		})
	}, func(t *testing.T, f *framework) {
		leads(t, f.open().Get("/members"), f.url+"/auth/signin")
		answers(t, f.openAs("Ada").Get("/members"), http.StatusOK, "here is Ada")
		leads(t, f.openAs("Grace").Get("/members"), f.url+"/elsewhere")
		answers(t, f.openAs("Alan").Get("/members"), http.StatusTeapot, "short and stout")
		answers(t, f.openAs("Eve").Get("/members"), http.StatusForbidden, "")
		answers(t, f.openAs("Kurt").Get("/members"), http.StatusInternalServerError, "")
		answers(t, f.openAs("Haskell").Get("/members"), http.StatusInternalServerError, "")
	}},
	{"WriteError answers for a handler as a guard would", func(f *framework) {
		f.page("/note", Unguarded, func(c Context) {
			s, err := c.Session()
			switch {
			case err != nil:
			case s.User.Name == "Grace":
				err = latchkey.RedirectTo("/elsewhere")
			case s.User.Name == "Haskell":
				err = errors.New("curry")
			default:
				err = latchkey.ErrAccessDenied
			}
			c.WriteError(err)
		})
	}, func(t *testing.T, f *framework) {
		leads(t, f.open().Get("/note"), f.url+"/auth/signin")
		answers(t, f.open().Fetch("GET", "/note", nil, nil), http.StatusUnauthorized, "")
		leads(t, f.openAs("Grace").Get("/note"), f.url+"/elsewhere")
		p := f.openAs("Eve").Get("/note")
		if answers(t, p, http.StatusForbidden, ""); !setsCookie(p, "session-token") {
			t.Error("the session is not kept alive")
		}
		answers(t, f.openAs("Haskell").Get("/note"), http.StatusInternalServerError, "")
	}},
	{"a bearer token opens what a cookie would, where that is switched on", func(f *framework) {
		f.config.Session.Bearer = true
		f.members(new(tally), RequireSession, nil)
	}, func(t *testing.T, f *framework) {
		token, c := f.openAs("Ada").BearerToken(f.site.Auth), f.open()
		p := c.Fetch("GET", "/members", nil, http.Header{"Authorization": {"Bearer " + token}})
		if answers(t, p, http.StatusOK, "here is Ada"); len(p.Header.Values("Set-Cookie")) > 0 {
			t.Errorf("a native app gets %q", p.Header.Values("Set-Cookie"))
		}
		p = c.Fetch("GET", "/members", nil, http.Header{"Authorization": {"Bearer " + token + "x"}})
		if answers(t, p, http.StatusUnauthorized, ""); p.Header.Get("WWW-Authenticate") == "" {
			t.Error("a refusal does not say how to sign in")
		}
	}},
	{"a session is asked for once, and never unless somebody looks", func(f *framework) {
		f.config.Session.Strategy = latchkey.DatabaseSessions
		f.config.Providers = f.config.Providers[:1] // passwords need the other kind of session
		f.page("/unread", LoadSession, func(c Context) { c.Write(http.StatusOK, "public") })
		f.page("/members", RequireSession, func(c Context) {
			s := latchkey.SessionFrom(c.Context())
			u, err := c.CurrentUser()
			ok(f.t, err)
			c.Write(http.StatusOK, "here is "+nameOf(c.Session())+", "+s.User.Name+", "+u.Name)
		})
		f.page("/bare", Unguarded, func(c Context) {
			s, _ := c.Session()
			c.Write(http.StatusOK, "here is "+s.User.Name+", "+nameOf(c.Session()))
		})
	}, func(t *testing.T, f *framework) {
		f.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
		c := f.open()
		c.SignIn(f.issuer)
		for path, want := range map[string]struct {
			looked int32
			text   string
		}{"/unread": {0, "public"}, "/members": {1, "here is Ada, Ada, Ada"}, "/bare": {1, "here is Ada, Ada"}} {
			before := f.store.looked.Load()
			answers(t, c.Get(path), http.StatusOK, want.text)
			if n := f.store.looked.Load() - before; n != want.looked {
				t.Errorf("%s: the store was asked %d times", path, n)
			}
		}
	}},
	{"the session is in the context of the request", func(f *framework) {
		f.page("/context", LoadSession, func(c Context) {
			s := latchkey.SessionFrom(c.Context())
			if s == nil {
				c.Write(http.StatusOK, "here is nobody")
				return
			}
			c.Write(http.StatusOK, "here is "+s.User.Name)
		})
	}, func(t *testing.T, f *framework) {
		answers(t, f.open().Get("/context"), http.StatusOK, "here is nobody")
		p := f.openAs("Ada").Get("/context")
		if answers(t, p, http.StatusOK, "here is Ada"); !setsCookie(p, "session-token") {
			t.Error("the session is not kept alive")
		}
	}},
}

// members adds the page /members behind a guard. Its handler counts "member" in seen and
// names the user. decide is Page.Decide, and nil for a guard other than Authorize.
func (f *framework) members(seen *tally, guard Guard, decide func(string, *latchkey.Session) error) {
	f.site.Pages = append(f.site.Pages, Page{
		Method: http.MethodGet, Path: "/members", Guard: guard, Decide: decide,
		Serve: func(c Context) {
			seen.add("member")
			who(c)
		},
	})
}
