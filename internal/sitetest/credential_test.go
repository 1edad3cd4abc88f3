package sitetest

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
)

// What a session token may be used as is part of the token.

// credentialSites are the ways in which a site may keep sessions.
var credentialSites = map[string]func(*latchkey.Config){
	"rows": stored, "tokens": revocable,
	"rows with keys of the application": func(c *latchkey.Config) {
		stored(c)
		c.Session.NewToken = func() string { return "k" + rand.Text() + rand.Text() }
	},
	"tokens that nobody looks into": func(*latchkey.Config) {},
	"tokens with callbacks that meddle": func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
			delete(t.Claims, "latchkey.credential")
			if t.Trigger == latchkey.TriggerSignIn || t.Trigger == latchkey.TriggerSignUp {
				t.Claims["latchkey.credential"] = "bearer"
			}
			return t.Claims, nil
		}
	},
	"rows behind a cache": func(c *latchkey.Config) {
		stored(c)
		c.Session.Cache.MaxAge = time.Minute
	},
}

// places are where a request may show a token.
var places = map[string]func(b *browser, token string) *browser{
	"the cookie": func(b *browser, token string) *browser {
		c := b.bare()
		c.jar[sessionCookie] = token
		return c
	},
	"pieces of the cookie": func(b *browser, token string) *browser {
		c := b.bare()
		c.jar[sessionCookie+".0"], c.jar[sessionCookie+".1"] = token[:20], token[20:]
		return c
	},
	"the header": func(b *browser, token string) *browser { return b.shows("Bearer " + token) },
}

// opens returns every way in which a request with the token of b is believed.
func (b *browser) opens() (doors []string) {
	if email, _, _ := b.who(); email != "" {
		doors = append(doors, "a guard")
	}
	if a := b.get("/auth/session"); strings.Contains(a.Body.String(), "ada@example.com") {
		doors = append(doors, "the session route")
	}
	if a := b.get("/auth/account"); a.Code == http.StatusOK {
		doors = append(doors, "the account page")
	}
	if _, err := b.site.auth.BearerCode(b.request("GET", "/", "", ""), challengeOf(appVerifier)); err == nil {
		doors = append(doors, "a code for an app")
	}
	if claims, err := jwt.GetToken(b.request("GET", "/", "", "").Header, b.site.tokenParams()); err == nil && claims != nil && b.jar[sessionCookie] != "" {
		doors = append(doors, "jwt.GetToken")
	}
	return doors
}

func (s *testSite) tokenParams() jwt.TokenParams {
	secure := true
	return jwt.TokenParams{Secrets: []string{siteSecret}, Time: s.clock.Now, SecureCookie: &secure}
}

// TestCredentialsAreWhatTheyWereMadeFor shows each kind of credential in each place.
// It opens something only where it was made for. Against the code before R-505 it
// found that a bearer token in the cookie opened everything, new codes for apps and
// the account page included, with each way to keep sessions.
func TestCredentialsAreWhatTheyWereMadeFor(t *testing.T) {
	for kind, change := range credentialSites {
		s, ada := newBearerSite(t, change, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
		app := appToken(t, ada)
		renewed := ada.shows("Bearer " + app).get("/auth/session").Header().Get("Session-Token")
		for made, token := range map[string]string{"cookie": ada.jar[sessionCookie], "bearer": app, "renewed bearer": renewed} {
			for name, show := range places {
				if token == "" {
					continue // a stored session keeps its key
				}
				t.Run("R-505 "+kind+": a "+made+" token in "+name, func(t *testing.T) {
					rightly := strings.Contains(name, "cookie") == (made == "cookie")
					doors := show(ada, token).opens()
					if (len(doors) > 0) != rightly {
						t.Errorf("opens %q\n%s", doors, s.log.text())
					}
					if _, via, _ := show(ada, token).who(); rightly && (via == latchkey.ViaBearer) != (name == "the header") {
						t.Errorf("via %q", via)
					}
				})
			}
		}
	}
}

// what Auth.js made, or we before there were kinds, is a session cookie, and
// a mark that nobody knows is none.
func TestCredentialsMadeElsewhere(t *testing.T) {
	s, ada := newBearerSite(t, revocable)
	seal := func(mark any) string {
		claims := jwt.Claims{"name": "Ada", "email": "ada@example.com", "sub": "ada"}
		if mark != nil {
			claims["latchkey.credential"] = mark
		}
		token, err := jwt.NewCodec([]string{siteSecret}, sessionCookie).SealClaims(claims, s.clock.Now(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	for _, row := range []struct {
		name           string
		mark           any
		cookie, header bool
	}{
		{"no mark", nil, true, false},
		{"the mark of an app", "bearer", false, true},
		{"a half signed-in state", "pending", false, false},
		{"a number", 1, false, false},
		{"a list", []any{"bearer"}, false, false},
		{"another case", "Bearer", false, false},
		{"true", true, false, false},
	} {
		t.Run("R-505 "+row.name, func(t *testing.T) {
			for place, want := range map[string]bool{"the cookie": row.cookie, "the header": row.header} {
				if email, _, _ := places[place](ada, seal(row.mark)).who(); (email != "") != want {
					t.Errorf("in %s: %q", place, email)
				}
			}
		})
	}
	t.Run("R-505 the key of a row in capitals", func(t *testing.T) {
		_, ada := newBearerSite(t, stored)
		token := strings.ToUpper(appToken(t, ada))
		for place, show := range places {
			if email, _, _ := show(ada, token).who(); email != "" {
				t.Errorf("in %s: %q", place, email)
			}
		}
	})
}
