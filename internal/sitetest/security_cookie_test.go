package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
)

func TestSecretRotation(t *testing.T) {
	const old, fresh, other = "the old secret, which is long enough", "the fresh secret, also long enough", "a third secret, which nobody removed"
	at := func(secrets ...string) *testSite { return newSite(t, func(c *latchkey.Config) { c.Secrets = secrets }) }
	token := at(old).newBrowser().signIn().cookie("session-token").Value
	t.Run("R-090 an older secret still opens", func(t *testing.T) {
		s := at(fresh, other, old)
		b := s.holding(token)
		renewed := b.get("/auth/session").cookie("session-token").Value
		live(t, at(fresh).holding(renewed))
		dead(t, at(old).holding(renewed))
	})
	t.Run("R-090 a removed secret opens nothing", func(t *testing.T) { dead(t, at(fresh, other).holding(token)) })
	for name, secrets := range map[string][]string{
		"none": {}, "an empty one": {""}, "white space": {" \t\n"}, "an empty one in the list": {siteSecret, ""}, "a placeholder": {"changeme"},
		"a placeholder in capitals": {"SECRET"}, "a placeholder in the list": {siteSecret, "your-secret-here"},
	} {
		t.Run("R-091 "+name, func(t *testing.T) {
			for _, env := range []string{"AUTH_SECRET", "AUTH_SECRET_1", "AUTH_SECRET_2", "AUTH_SECRET_3", "NEXTAUTH_SECRET"} {
				t.Setenv(env, "")
			}
			_, err := latchkey.New(latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Providers: someProvider(), Secrets: secrets, Runtime: latchkey.Runtime{Logger: quiet}})
			if !errors.Is(err, latchkey.ErrMissingSecret) {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("R-091 a short one", func(t *testing.T) {
		short := func(hardened bool) (*logBuffer, error) {
			log := &logBuffer{}
			_, err := latchkey.New(latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Providers: someProvider(), Secrets: []string{"a short but odd one"}, Hardened: hardened, Runtime: latchkey.Runtime{Logger: log.logger()}})
			return log, err
		}
		if log, err := short(false); err != nil || strings.Count(log.text(), "fewer than 32") != 1 {
			t.Errorf("error %v, log %s", err, log.text())
		}
		if _, err := short(true); !errors.Is(err, latchkey.ErrMissingSecret) {
			t.Errorf("hardened: error %v", err)
		}
	})
}

func TestSessionCookieReading(t *testing.T) {
	site := newSite(t)
	good := site.newBrowser().signIn().cookie("session-token").Value
	half := len(good) / 2
	a, b := good[:half], good[half:]
	const n = sessionCookie
	pairs := func(list ...string) string {
		var out []string
		for i := 0; i < len(list); i += 2 {
			out = append(out, list[i]+"="+list[i+1])
		}
		return strings.Join(out, "; ")
	}
	many := make([]string, 0, 80)
	for i := range 40 {
		piece := len(good) / 40
		end := (i + 1) * piece
		if i == 39 {
			end = len(good)
		}
		many = append(many, fmt.Sprintf("%s.%d", n, i), good[i*piece:end])
	}
	for _, c := range []struct {
		name, cookies string
		alive         bool
	}{
		{"R-093 whole", pairs(n, good), true},
		{"R-093 pieces", pairs(n+".0", a, n+".1", b), true},
		{"R-093 pieces in another order", pairs(n+".1", b, n+".0", a), true},
		{"R-093 a cookie that shares the prefix", pairs(n+"-x", "junk", n+"x", "junk", n+".x", "junk", n, good), true},
		{"R-093 such a cookie beside pieces", pairs(n+".0", a, n+".1", b, n+".01", "junk", n+".-1", "junk", n+".1x", "junk", n+".", "junk"), true},
		{"R-093 leading zeros", pairs(n+".00", a, n+".01", b), false},
		{"R-093 a sign", pairs(n+".+0", a, n+".+1", b), false},
		{"R-095 forty pieces", pairs(many...), false},
		{"R-388 a huge index beside pieces", pairs(n+".0", a, n+".1", b, n+".99999999999999999999", "x"), true},
		{"R-388 an index beyond the last beside pieces", pairs(n+".32", "x", n+".0", a, n+".1", b, n+".99", "x"), true},
		{"R-388 the same beside the whole", pairs(n+".32", "x", n, good, n+".99", "x"), true},
		{"R-096 whole beside pieces of another", pairs(n, good, n+".0", "junk", n+".1", "junk"), true},
		{"R-096 a gap", pairs(n+".0", a, n+".2", b), false},
		{"R-096 no first piece", pairs(n+".1", good), false},
		{"R-096 a bad whole beside good pieces", pairs(n, "junk", n+".0", a, n+".1", b), false},
		{"R-098 the first of two counts", pairs(n, good, n, "junk"), true},
		{"R-098 the second of two does not", pairs(n, "junk", n, good), false},
		{"R-098 the first of two pieces counts", pairs(n+".0", a, n+".0", "junk", n+".1", b), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := site.newBrowser()
			r := b.request(http.MethodGet, "/auth/session", "", "")
			r.Header.Set("Cookie", c.cookies)
			if body := b.serve(site.auth, r).Body.String(); (body != "null") != c.alive {
				t.Errorf("answered %s", body)
			}
			r = b.request(http.MethodGet, "/page", "", "")
			r.Header.Set("Cookie", c.cookies)
			if session, err := site.auth.ReadSession(httptest.NewRecorder(), r); (session != nil) != c.alive || (err == nil) != c.alive {
				t.Errorf("the helper says %v, %v", session, err)
			}
		})
	}
	t.Run("R-095 64 KiB in pieces", func(t *testing.T) {
		b := site.newBrowser()
		for i := range 32 {
			b.jar[fmt.Sprintf("%s.%d", n, i)] = strings.Repeat("A", 2100)
		}
		dead(t, b)
	})
	t.Run("R-096 leftovers are cleared on the next write", func(t *testing.T) {
		b := site.newBrowser()
		b.jar[n], b.jar[n+".0"], b.jar[n+".1"] = good, "old", "old"
		b.get("/auth/session")
		if b.jar[n+".0"]+b.jar[n+".1"] != "" || !b.isLive() {
			t.Errorf("left: %v", b.jar)
		}
	})
	t.Run("R-095 a session of many pieces comes back", func(t *testing.T) {
		long := newSite(t, func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
				u.Claims["long"] = strings.Repeat("x", 9000)
				return u.Claims, nil
			}
		})
		b := long.newBrowser()
		b.post("/auth/callback/crew", "username", "alice", "password", "wonderland")
		if b.jar[n] != "" || b.jar[n+".2"] == "" || !b.isLive() || !b.isLive() {
			t.Errorf("%d cookies", len(b.jar))
		}
	})
	t.Run("R-389 planted cookies bring no flood back", func(t *testing.T) {
		for name, s := range map[string]*testSite{
			"plain":  site,
			"stored": newSite(t, func(c *latchkey.Config) { c.Session.Strategy = latchkey.DatabaseSessions }),
		} {
			for _, also := range []string{"", n + "=junk"} {
				planted := []string{csrfCookie + "=" + csrfPair("token", siteSecret), also}
				for i := range 300 {
					planted = append(planted, fmt.Sprintf("%s.%d=x", n, i), fmt.Sprintf("__Secure-authjs.session-token.%d=x", i))
				}
				for _, target := range []string{"/auth/session", "/auth/signin"} {
					b := s.newBrowser()
					r := b.request(http.MethodGet, target, "", "")
					r.Header["Cookie"] = []string{strings.Join(planted, "; ")}
					if lines := b.serve(s.auth, r).Header()["Set-Cookie"]; len(lines) > 40 {
						t.Errorf("%s, %s: %d Set-Cookie lines", name, target, len(lines))
					}
				}
			}
		}
	})
	t.Run("R-389 they are gone in the end", func(t *testing.T) {
		b := site.newBrowser()
		for i := range 32 {
			b.jar[fmt.Sprintf("%s.%d", n, i)] = "x"
		}
		b.signIn()
		for range 3 {
			b.isLive()
		}
		if len(b.jar) != 4 || !b.isLive() {
			t.Errorf("left: %v", b.jar)
		}
	})
	t.Run("R-389 among too many nobody is signed in", func(t *testing.T) {
		for name, c := range map[string]struct {
			planted string
			alive   bool
		}{
			"999 others":   {strings.Repeat("x=1; ", 999), true},
			"1,000 others": {strings.Repeat("x=1; ", 1000), false},
			"60 KiB":       {"x=" + strings.Repeat("y", 60<<10) + "; ", true},
			"64 KiB":       {"x=" + strings.Repeat("y", 64<<10) + "; ", false},
		} {
			for _, cookies := range []string{c.planted + n + "=" + good, n + "=" + good + "; " + strings.TrimSuffix(c.planted, "; ")} {
				b := site.newBrowser()
				r := b.request(http.MethodGet, "/auth/session", "", "")
				r.Header["Cookie"] = []string{cookies}
				w := b.serve(site.auth, r)
				if body := w.Body.String(); (body != "null") != c.alive {
					t.Errorf("%s: answered %.30s", name, body)
				}
				if len(w.Header()["Set-Cookie"]) > 3 {
					t.Errorf("%s: %d Set-Cookie lines", name, len(w.Header()["Set-Cookie"]))
				}
			}
		}
	})
	t.Run("R-099 every cookie gets __Host-", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks), func(c *latchkey.Config) { c.Cookies.HostPrefix = new(true) })
		b := s.newBrowser()
		begun := b.post("/auth/signin/issuer")
		b = s.newBrowser()
		in := s.mustSignIn(b)
		for _, c := range append(begun.Result().Cookies(), in.Result().Cookies()...) {
			if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || c.Path != "/" || c.Domain != "" {
				t.Errorf("cookie %v", c)
			}
		}
	})
	t.Run("R-099 the old name is read once", func(t *testing.T) {
		host := newSite(t, func(c *latchkey.Config) {
			c.Cookies.HostPrefix, c.Cookies.MigrateUntil = new(true), newTestClock().Now().Add(24*time.Hour)
		})
		b := host.holding(good)
		if !b.isLive() || b.jar[n] != "" || b.jar["__Host-authjs.session-token"] == "" || !b.isLive() {
			t.Errorf("cookies %v", b.jar)
		}
	})
	for name, change := range map[string]func(*latchkey.Config){
		"HostPrefix alone": func(c *latchkey.Config) { c.Cookies.HostPrefix = new(true) },
		"Hardened alone":   func(c *latchkey.Config) { c.Hardened = true },
		"a date that has passed": func(c *latchkey.Config) {
			c.Hardened, c.Cookies.MigrateUntil = true, newTestClock().Now()
		},
	} {
		t.Run("R-350 a session under the former name is nobody's: "+name, func(t *testing.T) {
			for _, store := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
				plain := newSite(t)
				host := newSite(t, change, func(c *latchkey.Config) { c.Session.Strategy, c.Adapter = store, plain.store })
				planted := plain.newBrowser().signIn().cookie("session-token").Value
				b := host.holding(planted)
				a := b.get("/auth/session")
				if a.Body.String() != "null" || a.cookie("session-token") != nil {
					t.Errorf("%s: %s, cookie %v", store, a.Body, a.cookie("session-token"))
				}
				b.jar[n+".0"], b.jar[n+".1"] = planted[:20], planted[20:]
				delete(b.jar, n)
				dead(t, b)
			}
		})
	}
	t.Run("R-350 the migration ends on its date", func(t *testing.T) {
		host := newSite(t, func(c *latchkey.Config) {
			c.Cookies.HostPrefix, c.Cookies.MigrateUntil = new(true), newTestClock().Now().Add(24*time.Hour)
		})
		host.clock.Advance(24*time.Hour - time.Second)
		live(t, host.holding(good))
		host.clock.Advance(time.Second)
		dead(t, host.holding(good))
	})
	for _, value := range []string{
		"", "Bearer", "Bearer ", "bearer x", "Basic " + good, "Bearer  " + strings.Repeat(" ", 1000) + "x", "Bearer %zz", "Bearer %", "Bearer " + strings.Repeat("A", 1<<20), "Bearer a b c",
	} {
		t.Run(fmt.Sprintf("R-108 %.20q", value), func(t *testing.T) {
			b := site.newBrowser()
			r := b.request(http.MethodGet, "/auth/session", "", "")
			r.Header.Set("Authorization", value)
			if w := b.serve(site.auth, r); w.Code != http.StatusOK || w.Body.String() != "null" {
				t.Errorf("answered %d %s", w.Code, w.Body)
			}
			claims, err := jwt.GetToken(r.Header, jwt.TokenParams{Secrets: []string{siteSecret}})
			if err == nil || claims != nil {
				t.Errorf("claims %v, error %v", claims, err)
			}
		})
	}
}
