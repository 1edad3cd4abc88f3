package frameworktest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// callCases are about what a handler can do.
var callCases = []testCase{
	{"Session keeps the session alive, and says so to caches", func(f *framework) {
		f.page("/who", Unguarded, who)
	}, func(t *testing.T, f *framework) {
		answers(t, f.open().Get("/who"), http.StatusOK, "here is nobody")
		p := f.openAs("Ada").Get("/who")
		answers(t, p, http.StatusOK, "here is Ada")
		if !setsCookie(p, "session-token") || p.Header.Get("Vary") != "Cookie" || p.Header.Get("Cache-Control") != "private" {
			t.Errorf("the answer has the header %v", p.Header)
		}
	}},
	{"SignIn begins, completes and refuses", func(f *framework) {
		f.page("/begin", Unguarded, func(c Context) {
			err := c.SignIn(f.issuer.Provider().ID, latchkey.SignInOptions{RedirectTo: "/done", Params: url.Values{"prompt": {"login"}}})
			ok(f.t, err)
		})
		f.page("/where", Unguarded, func(c Context) {
			to, err := c.SignInURL("", latchkey.SignInOptions{RedirectTo: "/done"})
			ok(f.t, err)
			c.Write(http.StatusOK, to)
		})
		f.post("/enter", LoadSession, func(c Context) {
			form := url.Values{"name": {c.FormValue("name")}, "password": {c.FormValue("password")}}
			to, err := c.SignInURL("credentials", latchkey.SignInOptions{RedirectTo: "/done", Form: form})
			if errors.Is(err, latchkey.ErrCredentialsSignin) {
				c.Write(http.StatusUnauthorized, "not so")
				return
			}
			ok(f.t, err)
			c.Write(http.StatusOK, to+" for "+nameOf(c.Session()))
		})
	}, func(t *testing.T, f *framework) {
		p := f.open().Get("/begin")
		if to := p.Location(); to == nil || to.Query().Get("prompt") != "login" || len(p.Header.Values("Set-Cookie")) < 2 {
			t.Errorf("a sign-in begins with %s and %v", p.Describe(), p.Header)
		}
		answers(t, f.open().Get("/where"), http.StatusOK, "/auth/signin?callbackUrl=")
		c := f.open()
		answers(t, c.Post("/enter", url.Values{"name": {"Ada"}, "password": {"wrong"}}), http.StatusUnauthorized, "not so")
		answers(t, c.Post("/enter", url.Values{"name": {"Ada"}, "password": {password}}), http.StatusOK, f.url+"/done for nobody")
		if s := c.Session(); s == nil || s.User.Name != "Ada" {
			t.Errorf("signed in: %v", s)
		}
	}},
	{"AccessToken and LinkURL are for the signed-in user", func(f *framework) {
		f.page("/token", Unguarded, func(c Context) {
			_, err := c.AccessToken(f.issuer.Provider().ID, latchkey.TokenOptions{})
			c.Write(http.StatusOK, fmt.Sprint(errors.Is(err, latchkey.ErrNoSession), errors.Is(err, latchkey.ErrNotFound)))
		})
		f.page("/link", Unguarded, func(c Context) {
			to, err := c.LinkURL(f.issuer.Provider().ID, latchkey.LinkOptions{})
			c.Write(http.StatusOK, fmt.Sprint(errors.Is(err, latchkey.ErrNoSession), strings.HasPrefix(to, f.issuer.URL)))
		})
	}, func(t *testing.T, f *framework) {
		answers(t, f.open().Get("/token"), http.StatusOK, "true false")
		answers(t, f.open().Get("/link"), http.StatusOK, "true false")
		answers(t, f.openAs("Ada").Get("/token"), http.StatusOK, "false true")
		c := f.open()
		c.SignIn(f.issuer)
		answers(t, c.Get("/token"), http.StatusOK, "false false")
		answers(t, c.Get("/link"), http.StatusOK, "false true")
	}},
	{"SignOut ends the session, for the rest of the request as well", func(f *framework) {
		f.post("/leave", RequireSession, func(c Context) {
			to, err := c.SignOutURL(latchkey.SignOutOptions{RedirectTo: "/bye"})
			ok(f.t, err)
			c.Write(http.StatusOK, to+" and "+nameOf(c.Session()))
		})
		f.post("/go", Unguarded, func(c Context) {
			err := c.SignOut(latchkey.SignOutOptions{RedirectTo: "/bye"})
			ok(f.t, err)
		})
	}, func(t *testing.T, f *framework) {
		c := f.openAs("Ada")
		answers(t, c.Post("/leave", nil), http.StatusOK, f.url+"/bye and nobody")
		for _, left := range c.Cookies() { // the guard has renewed the session before
			if strings.HasSuffix(left.Name, "session-token") {
				t.Errorf("the browser keeps %s", left.Name)
			}
		}
		if c.Session() != nil {
			t.Error("somebody is still signed in")
		}
		c = f.openAs("Ada")
		if leads(t, c.Post("/go", nil), f.url+"/bye"); c.Session() != nil {
			t.Error("somebody is still signed in")
		}
	}},
	{"SignOutURL of a strict site reports a session that the store did not end (R-746)", func(f *framework) {
		f.config.Session.Strategy, f.config.Security.StrictSignOut = latchkey.DatabaseSessions, new(true)
		f.config.Adapter, f.config.Providers = endlessStore{f.store.Adapter}, f.config.Providers[:1]
		f.post("/leave", Unguarded, func(c Context) {
			to, err := c.SignOutURL(latchkey.SignOutOptions{RedirectTo: "/bye"})
			c.Write(http.StatusOK, fmt.Sprintf("%q %t", to, errors.Is(err, latchkey.ErrSignOut)))
		})
	}, func(t *testing.T, f *framework) {
		c := f.open()
		c.SignIn(f.issuer)
		p := c.Post("/leave", nil)
		if answers(t, p, http.StatusOK, `"" true`); !setsCookie(p, "session-token") || c.Session() != nil {
			t.Errorf("the browser keeps its cookie: %v", p.Header)
		}
	}},
	{"UpdateSession changes the session at once", func(f *framework) {
		f.post("/rename", RequireSession, func(c Context) {
			s, err := c.UpdateSession(map[string]string{"name": c.FormValue("name")})
			c.Write(http.StatusOK, "here is "+nameOf(s, err)+", "+nameOf(c.Session()))
		})
		f.post("/rename-nobody", Unguarded, func(c Context) {
			c.Write(http.StatusOK, "here is "+nameOf(c.UpdateSession(nil)))
		})
	}, func(t *testing.T, f *framework) {
		c := f.openAs("Ada")
		answers(t, c.Post("/rename", url.Values{"name": {"Countess"}}), http.StatusOK, "here is Countess, Countess")
		if got := c.Session().User.Name; got != "Countess" {
			t.Errorf("the browser has the session of %q", got)
		}
		answers(t, f.open().Post("/rename-nobody", nil), http.StatusOK, "here is nobody")
	}},
	{"CSRFToken and ActionURL are what a form of the application's needs", func(f *framework) {
		f.page("/form", Unguarded, func(c Context) {
			token, err := c.CSRFToken()
			ok(f.t, err)
			again, err := c.CSRFToken()
			if ok(f.t, err); again != token {
				f.t.Errorf("two tokens on one page: %s and %s", token, again)
			}
			to, err := c.ActionURL("signout")
			ok(f.t, err)
			c.Write(http.StatusOK, token+" "+to.String())
		})
	}, func(t *testing.T, f *framework) {
		c := f.openAs("Ada")
		token, action, _ := strings.Cut(string(c.Get("/form").Body), " ")
		if action != f.url+"/auth/signout" {
			t.Errorf("the action is %q", action)
		}
		c.Post(action, url.Values{"csrfToken": {"wrong"}})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, action, strings.NewReader(url.Values{"csrfToken": {token}}.Encode()))
		ok(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded") // and nothing that a browser says of its own
		if c.Do(req); c.Session() != nil {
			t.Error("the token does not sign out")
		}
	}},
	{"Forms and UI have what a sign-in page shows", func(f *framework) {
		f.page("/login", Unguarded, func(c Context) {
			forms, err := c.Forms()
			ok(f.t, err)
			page, err := c.UI()
			ok(f.t, err)
			box, err := page.SignInBox()
			ok(f.t, err)
			user, err := page.UserButton()
			ok(f.t, err)
			text := "here is nobody"
			if forms.Session != nil {
				text = "here is " + forms.Session.User.Name
			}
			c.Write(http.StatusOK, text+string(box)+string(user))
		})
	}, func(t *testing.T, f *framework) {
		c := f.open()
		p := c.Get("/login?callbackUrl=%2Fdone")
		answers(t, p, http.StatusOK, "here is nobody")
		answers(t, p, http.StatusOK, `action="`+f.url+`/auth/callback/credentials"`)
		answers(t, f.openAs("Ada").Get("/login"), http.StatusOK, "here is Ada")
		action, form := c.Form(p)
		if action == nil || form.Get("csrfToken") == "" || form.Get("callbackUrl") != f.url+"/done" {
			t.Fatalf("the first form posts %v to %v", form, action)
		}
		if to := c.Post(action.String(), form).Location(); to == nil || strings.HasPrefix(to.String(), c.URL+"/") {
			t.Errorf("the form of the provider leads to %v", to)
		}
	}},
}

// post adds a page that is posted to.
func (f *framework) post(path string, guard Guard, serve func(c Context)) {
	f.site.Pages = append(f.site.Pages, Page{Method: http.MethodPost, Path: path, Guard: guard, Serve: serve})
}
