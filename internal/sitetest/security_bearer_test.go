package sitetest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
)

// Sessions whose token comes in the Authorization header.

func takesBearer(c *latchkey.Config) { c.Session.Bearer = true }

// bearerKinds are the two kinds of session, on sites that take bearer tokens.
var bearerKinds = map[string]func(*latchkey.Config){"rows": stored, "tokens": revocable}

// newBearerSite is a site with a browser in which Ada is signed in.
func newBearerSite(t *testing.T, change ...func(*latchkey.Config)) (*oauthSite, *browser) {
	t.Helper()
	s := newOAuthSite(t, append([]func(*latchkey.Config){takesBearer}, change...)...)
	b := s.newBrowser()
	b.signInByLink("ada@example.com")
	return s, b
}

const (
	appVerifier  = "the-verifier-of-an-app-43-characters-or-more"
	otherAppText = "the-verifier-of-another-app-which-listens-in"
)

func challengeOf(verifier string) string {
	hash := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// appToken is the token of a session that an app got.
func appToken(t *testing.T, b *browser) string {
	t.Helper()
	code, err := b.site.auth.BearerCode(b.request("GET", "/app", "", ""), challengeOf(appVerifier))
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := b.site.auth.BearerToken(b.bare().request("POST", "/app/token", "", ""), code, appVerifier)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// bare is the same machine without cookies.
func (b *browser) bare() *browser { return &browser{b.site, map[string]string{}, b.header.Clone()} }

// shows is an app at the browser's tenant that sends these Authorization headers.
func (b *browser) shows(authorization ...string) *browser {
	app := b.bare()
	app.header["Authorization"] = authorization
	return app
}

// who is how a guarded API knows the request: the user's e-mail address, and how
// the session came; empty: it is refused.
func (b *browser) who() (email string, via latchkey.SessionVia, a *answer) {
	guarded := b.site.auth.RequireSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		email, via = s.User.Email, s.Via
	}))
	a = b.serve(guarded, b.request("GET", "/api", "", ""))
	return email, via, a
}

func TestBearerIsOffByDefault(t *testing.T) {
	for kind, change := range bearerKinds {
		t.Run("R-425 "+kind, func(t *testing.T) {
			s := newOAuthSite(t, change)
			b := s.newBrowser()
			b.signInByLink("ada@example.com")
			var token string
			for name, value := range b.jar {
				if strings.HasSuffix(name, "session-token") {
					token = value
				}
			}
			if email, _, a := b.shows("Bearer " + token).who(); email != "" || strings.Contains(a.Header().Get("WWW-Authenticate"), "Bearer") || a.Header().Get("Vary") != "Cookie" {
				t.Errorf("%q, %v", email, a.Header())
			}
			b.header.Set("Authorization", "Bearer nonsense")
			if email, via, _ := b.who(); email != "ada@example.com" || via != latchkey.ViaCookie {
				t.Errorf("beside a header for somebody else: %q, %q", email, via)
			}
			if _, err := s.auth.BearerCode(b.request("GET", "/", "", ""), challengeOf(appVerifier)); !errors.Is(err, latchkey.ErrInvalidConfig) {
				t.Errorf("a code: %v", err)
			}
			if _, _, err := s.auth.BearerToken(b.request("GET", "/", "", ""), "code", appVerifier); !errors.Is(err, latchkey.ErrInvalidConfig) {
				t.Errorf("a token: %v", err)
			}
		})
	}
}

func TestBearerStandsAlone(t *testing.T) {
	for kind, change := range bearerKinds {
		t.Run("R-426 "+kind, func(t *testing.T) {
			s, ada := newBearerSite(t, change)
			token := appToken(t, ada)
			eve := s.newBrowser()
			eve.signInByLink("eve@example.com")
			cookies := len(eve.jar)

			eve.header["Authorization"] = []string{"Bearer " + token}
			if email, via, a := eve.who(); email != "ada@example.com" || via != latchkey.ViaBearer || a.Header()["Set-Cookie"] != nil {
				t.Errorf("beside Eve's cookie: %q, %q, %v", email, via, a.Header())
			}
			for name, wrong := range map[string]string{
				"unknown": "Bearer " + strings.Repeat("0", 64), "cut": "Bearer " + token[:len(token)-1],
				"empty": "Bearer", "two": "Bearer " + token + " " + token,
			} {
				eve.header["Authorization"] = []string{wrong}
				if email, _, a := eve.who(); email != "" || a.Code/100 != 4 || a.Header()["Set-Cookie"] != nil {
					t.Errorf("%s beside Eve's cookie: %q, %d, %v", name, email, a.Code, a.Header())
				}
				for _, a := range []*answer{eve.get("/auth/session"), eve.do("POST", "/auth/session", "application/json", `{"data":1}`)} {
					if a.Code/100 != 4 || a.Header()["Set-Cookie"] != nil {
						t.Errorf("%s at the session route: %d, %v", name, a.Code, a.Header())
					}
				}
				if a := eve.do("POST", "/auth/signout", "", ""); a.Header()["Set-Cookie"] != nil {
					t.Errorf("%s at the sign-out: %d, %v", name, a.Code, a.Header())
				}
			}
			delete(eve.header, "Authorization")
			if email, via, _ := eve.who(); email != "eve@example.com" || via != latchkey.ViaCookie || len(eve.jar) != cookies {
				t.Errorf("Eve afterwards: %q, %q, %d cookies", email, via, len(eve.jar))
			}
		})
	}
}

func TestBearerIsWorthWhatTheCookieIs(t *testing.T) {
	for kind, change := range bearerKinds {
		app := func(t *testing.T, more ...func(*latchkey.Config)) (*oauthSite, *browser, *browser) {
			s, ada := newBearerSite(t, append([]func(*latchkey.Config){change}, more...)...)
			return s, ada, ada.shows("Bearer " + appToken(t, ada))
		}
		alive := func(t *testing.T, app *browser, want bool) {
			t.Helper()
			email, _, a := app.who()
			if (email != "") != want {
				t.Errorf("%q, %d", email, a.Code)
			}
			if got := app.get("/auth/session").Code == http.StatusOK; got != want {
				t.Errorf("the session route says %v", got)
			}
			if _, err := app.site.auth.ReadSession(httptest.NewRecorder(), app.request("GET", "/", "", "")); (err == nil) != want {
				t.Errorf("Auth.Session says %v", err)
			}
		}
		t.Run("R-427 its life, "+kind, func(t *testing.T) {
			s, _, app := app(t)
			alive(t, app, true)
			s.clock.Advance(31 * 24 * time.Hour)
			alive(t, app, false)
		})
		t.Run("R-427 its greatest age, "+kind, func(t *testing.T) {
			s, ada, _ := app(t, func(c *latchkey.Config) { c.Session.AbsoluteMaxAge = 48 * time.Hour })
			s.clock.Advance(30 * time.Hour)
			if email, _, _ := ada.who(); email == "" {
				t.Fatal("Ada is gone")
			}
			young := ada.shows("Bearer " + appToken(t, ada))
			alive(t, young, true)
			s.clock.Advance(20 * time.Hour)
			alive(t, young, false)
		})
		t.Run("R-427 the end of all sessions, "+kind, func(t *testing.T) {
			s, _, app := app(t)
			found, err := s.auth.ReadSession(httptest.NewRecorder(), app.request("GET", "/", "", ""))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.auth.Users().EndSessions(t.Context(), found.UserID); err != nil {
				t.Fatal(err)
			}
			alive(t, app, false)
		})
		t.Run("R-427 another tenant, "+kind, func(t *testing.T) {
			s := newTenantPair(t, takesBearer, change)
			b := s.newBrowser().at("a")
			b.signInByLink("ada@example.com")
			app := b.shows("Bearer " + appToken(t, b))
			alive(t, app, true)
			app.header.Set("X-Tenant", "b")
			alive(t, app, false)
		})
		t.Run("R-427 the callbacks, "+kind, func(t *testing.T) {
			var seen latchkey.SessionVia
			_, _, app := app(t, func(c *latchkey.Config) {
				c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
					seen = r.Session.Via
					r.Session.Via = "forged"
					r.Session.Extra = latchkey.Claims{"role": "admin"}
					return r.Session, nil
				}
			})
			if a := app.get("/auth/session"); !strings.Contains(a.Body.String(), `"role":"admin"`) || seen != latchkey.ViaBearer {
				t.Errorf("%s, %q", a.Body, seen)
			}
			if _, via, _ := app.who(); via != latchkey.ViaBearer {
				t.Errorf("via %q", via)
			}
		})
	}
}

func TestBearerNeedsNoCSRFToken(t *testing.T) {
	for kind, change := range bearerKinds {
		t.Run("R-428 "+kind, func(t *testing.T) {
			_, ada := newBearerSite(t, change)
			app := ada.shows("Bearer " + appToken(t, ada))
			app.header.Set("Origin", "https://app.other.example") // a front end that CORS lets ask
			app.header.Set("Sec-Fetch-Site", "cross-site")
			if a := app.do("POST", "/auth/session", "application/json", `{"data":{"name":"Augusta"}}`); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "ada@example.com") {
				t.Errorf("an update: %d %s", a.Code, a.Body)
			}
			for _, cookie := range []string{"/auth/session", "/auth/signout"} {
				if a := ada.do("POST", cookie, "", ""); a.Code == http.StatusOK || a.Code == http.StatusNoContent {
					t.Errorf("%s with a cookie and no token: %d", cookie, a.Code)
				}
			}
			if email, _, _ := ada.who(); email == "" {
				t.Fatal("a post without a token signs out")
			}
			if a := app.do("POST", "/auth/signout", "", ""); a.Code != http.StatusNoContent || a.Header()["Set-Cookie"] != nil {
				t.Errorf("the sign-out: %d, %v", a.Code, a.Header())
			}
			if email, _, _ := app.who(); email != "" {
				t.Error("the app is still signed in")
			}
			if email, _, _ := ada.who(); email == "" {
				t.Error("the browser was signed out, too")
			}
			if a := app.do("POST", "/auth/signout", "", ""); a.Code != http.StatusNoContent {
				t.Errorf("once more: %d", a.Code)
			}
		})
		t.Run("R-428 other routes look at cookies alone, "+kind, func(t *testing.T) {
			_, ada := newBearerSite(t, change, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
			app := ada.shows("Bearer " + appToken(t, ada))
			if a := app.get("/auth/account"); strings.Contains(a.Body.String(), "ada@example.com") || a.Code == http.StatusOK {
				t.Errorf("the account page: %d", a.Code)
			}
			if a := app.do("POST", "/auth/account", formContentType, "do=delete"); a.Code == http.StatusOK {
				t.Errorf("a post to it: %d", a.Code)
			}
			if a := app.do("POST", "/auth/signin/acme", "", ""); a.error() != "MissingCSRF" && !strings.Contains(a.location(), "csrf=true") {
				t.Errorf("a sign-in without a token: %d to %q", a.Code, a.location())
			}
		})
	}
}

func TestBearerHeaders(t *testing.T) {
	s, ada := newBearerSite(t, revocable)
	token := appToken(t, ada)
	for name, lines := range map[string][]string{
		"lower case": {"bearer " + token}, "upper case": {"BEARER " + token}, "two spaces": {"Bearer  " + token},
	} {
		if email, _, _ := ada.shows(lines...).who(); email == "" {
			t.Errorf("R-429 %s is refused", name)
		}
	}
	for name, lines := range map[string][]string{
		"two of the same": {"Bearer " + token, "Bearer " + token}, "beside another scheme": {"Basic eDp5", "Bearer " + token},
		"joined by a proxy": {"Basic eDp5, Bearer " + token}, "joined twice": {"Bearer " + token + ", Bearer " + token},
		"nothing": {"Bearer"}, "a space": {"Bearer "}, "a tab": {"Bearer\t" + token}, "quotes": {`Bearer "` + token + `"`},
		"an escape": {"Bearer %41" + token}, "a control": {"Bearer " + token + "\x01"}, "padding alone": {"Bearer ==="},
		"endless": {"Bearer " + strings.Repeat("a", jwt.MaxLen+1)}, "something behind it": {"Bearer " + token + " x"}, "not ASCII": {"Bearer tökèn"},
	} {
		for _, b := range []*browser{ada.shows(lines...), {site: ada.site, jar: ada.copy().jar, header: http.Header{"Authorization": lines}}} {
			email, _, a := b.who()
			if email != "" || a.Code != http.StatusBadRequest || !strings.Contains(a.Header().Get("WWW-Authenticate"), `error="invalid_request"`) {
				t.Errorf("R-429 %s: %q, %d, %v", name, email, a.Code, a.Header())
			}
			if a := b.get("/auth/session"); a.Code != http.StatusBadRequest {
				t.Errorf("R-429 %s at the session route: %d", name, a.Code)
			}
		}
	}
	for _, scheme := range []string{"Basic eDp5", "DPoP " + token, "Digest username=\"x\", realm=\"y\"", "Bearertoken", "Token " + token, ""} {
		ada.header["Authorization"] = []string{scheme}
		if email, via, _ := ada.who(); email == "" || via != latchkey.ViaCookie {
			t.Errorf("R-429 a cookie beside %.10q: %q, %q", scheme, email, via)
		}
	}
	nobody := s.newBrowser()
	for _, target := range []string{"?access_token=", "?token=", "?bearer_token="} {
		if a := nobody.get("/auth/session" + target + token); a.Body.String() != "null" {
			t.Errorf("R-429 a token in a query: %s", a.Body)
		}
		if a := nobody.do("POST", "/auth/session", formContentType, "access_token="+token); a.Code == http.StatusOK && a.Body.String() != "null" {
			t.Errorf("R-429 a token in a body: %s", a.Body)
		}
	}
}

// Sealed values that have another purpose, and what lies around in the store.
func TestBearerTakesNothingElse(t *testing.T) {
	for kind, change := range bearerKinds {
		t.Run("R-430 "+kind, func(t *testing.T) {
			s, ada := newBearerSite(t, change)
			token := appToken(t, ada)
			code, err := s.auth.BearerCode(ada.request("GET", "/", "", ""), challengeOf(appVerifier))
			if err != nil {
				t.Fatal(err)
			}
			ada.post("/auth/signin/acme") // leaves checks and a state
			ada.post("/auth/signin/post", "email", "eve@example.com")
			links := s.sent()
			wrong := map[string]string{"a code": code, "a link": linkToken(t, links[len(links)-1].URL)}
			for name, value := range ada.jar {
				if !strings.HasSuffix(name, "session-token") {
					plain, _ := url.PathUnescape(value)
					wrong[name], wrong[name+" as it is"] = plain, value
				}
			}
			for _, row := range s.store.Contents().Sessions {
				hash := sha256.Sum256([]byte(row.Token))
				wrong["the id of "+row.ID] = row.ID
				wrong["a hash of "+row.ID] = base64.RawURLEncoding.EncodeToString(hash[:])
			}
			for _, row := range s.store.Contents().VerificationTokens {
				wrong["a link's hash"] = row.Token
			}
			for _, salt := range []string{"authjs.session-token", "latchkey.bearer-code", "encodedState", "__Host-authjs.session-token", ""} {
				forged, err := jwt.Encode(jwt.Claims{"sub": "ada", "email": "ada@example.com"}, jwt.Params{Secrets: []string{siteSecret}, Salt: salt})
				if err == nil {
					wrong["sealed for "+salt] = forged
				}
			}
			wrong["unsigned"] = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."
			for name, value := range wrong {
				if email, _, a := ada.shows("Bearer " + value).who(); email != "" || a.Code/100 != 4 {
					t.Errorf("%s: %q, %d", name, email, a.Code)
				}
			}
			if email, _, _ := ada.shows("Bearer " + token).who(); email == "" {
				t.Error("the right one is refused")
			}
		})
	}
}

func linkToken(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("token")
}

func TestBearerChallenges(t *testing.T) {
	s, ada := newBearerSite(t, stored)
	token := appToken(t, ada)
	api := s.newBrowser()
	api.header = http.Header{"Accept": {"application/json"}}
	_, _, a := api.who()
	if got := a.Header().Get("WWW-Authenticate"); a.Code != http.StatusUnauthorized || got != `Bearer realm="app.example"` {
		t.Errorf("R-431 nothing was shown: %d, %q", a.Code, got)
	}
	_, _, a = ada.shows("Bearer " + strings.Repeat("0", 64)).who()
	if got := a.Header().Get("WWW-Authenticate"); a.Code != http.StatusUnauthorized || !strings.Contains(got, `error="invalid_token"`) {
		t.Errorf("R-431 a wrong token: %d, %q", a.Code, got)
	}
	refuse := func(why error) *answer {
		guarded := s.auth.Authorize(func(*http.Request, *latchkey.Session) error { return why })(http.NotFoundHandler())
		app := ada.shows("Bearer " + token)
		return app.serve(guarded, app.request("GET", "/api", "", ""))
	}
	if a := refuse(latchkey.ErrAccessDenied); a.Code != http.StatusForbidden || !strings.Contains(a.Header().Get("WWW-Authenticate"), `error="insufficient_scope"`) {
		t.Errorf("R-431 somebody else's page: %d, %v", a.Code, a.Header())
	}
	own := &latchkey.Response{Status: http.StatusUnauthorized, Body: []byte("{}")}
	if a := refuse(latchkey.RespondWith(own)); a.Header().Get("WWW-Authenticate") == "" || own.Header != nil {
		t.Errorf("R-431 an answer of the application's own: %d, %v", a.Code, a.Header())
	}
	own.Header = http.Header{"Www-Authenticate": {"Own"}}
	if a := refuse(latchkey.RespondWith(own)); a.Header().Get("WWW-Authenticate") != "Own" {
		t.Errorf("R-431 with a challenge of its own: %v", a.Header())
	}
	page := s.newBrowser()
	page.header = http.Header{"Accept": {"text/html"}}
	if _, _, a := page.who(); a.Code != http.StatusFound || a.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("R-431 people are led to the sign-in page: %d, %v", a.Code, a.Header())
	}
}
