package sitetest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// sealed is a session token made with the site's own secret.
func (s *testSite) sealed(payload string) string {
	s.t.Helper()
	token, err := jwt.NewCodec([]string{siteSecret}, sessionCookie).Seal([]byte(payload))
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// holding is a browser with a session cookie of the test's making.
func (s *testSite) holding(value string) *browser {
	b := s.newBrowser()
	b.jar[sessionCookie] = value
	return b
}

func TestSessionCookie(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run("R-079 attributes, "+string(strategy), func(t *testing.T) {
			s := newOAuthSite(t, func(c *latchkey.Config) { c.Session.Strategy = strategy })
			b := s.newBrowser()
			in := s.mustSignIn(b)
			read := b.get("/auth/session")
			for _, a := range []*answer{in, read} {
				c := a.cookie("session-token")
				if c == nil {
					t.Fatal("no session cookie")
				}
				if c.Name != sessionCookie || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
					t.Errorf("the cookie is %v", c)
				}
				if strings.Contains(a.Body.String()+a.location()+s.log.text(), c.Value) {
					t.Error("the value is in a body, a URL or the log")
				}
			}
		})
	}
	t.Run("R-102 stored tokens are long, random and no UUIDs", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		seen := map[string]bool{}
		for range 20 {
			value := s.mustSignIn(s.newBrowser()).cookie("session-token").Value
			if seen[value] || len(value) < 64 || strings.Contains(value, "-") || value[:8] == value[8:16] {
				t.Errorf("a token of %d characters", len(value))
			}
			seen[value] = true
		}
	})
	t.Run("R-102 short tokens of the operator's are refused", func(t *testing.T) {
		_, err := latchkey.New(latchkey.Config{
			Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: quiet},
			Session: latchkey.SessionConfig{NewToken: func() string { return "short" }},
		})
		if err == nil || !strings.Contains(err.Error(), "NewToken") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("R-104 the store holds no usable token", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		value := s.mustSignIn(s.newBrowser()).cookie("session-token").Value
		if strings.Contains(s.contents(), value) {
			t.Error("the cookie's value is in the store")
		}
		dead(t, s.holding(s.store.Contents().Sessions[0].Token))
	})
}

func TestSessionToken(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	good := b.signIn().cookie("session-token").Value
	parts := strings.Split(good, ".")
	null := func(t *testing.T, token string) {
		t.Helper()
		a := s.holding(token).get("/auth/session")
		if a.Code != http.StatusOK || a.Body.String() != "null" {
			t.Fatalf("%.60s… answered %d %s", token, a.Code, a.Body)
		}
	}
	t.Run("R-080 the untouched token is good", func(t *testing.T) { live(t, s.holding(good)) })
	t.Run("R-080 every character changed", func(t *testing.T) {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		for i := range good {
			at := strings.IndexByte(alphabet, good[i])
			for bit := 1; bit < 64; bit <<= 1 {
				with := "."
				if at >= 0 {
					with = string(alphabet[at^bit])
				} else if bit > 1 {
					continue
				} else {
					with = "A"
				}
				null(t, good[:i]+with+good[i+1:])
			}
		}
	})
	t.Run("R-080 parts of two tokens", func(t *testing.T) {
		other := strings.Split(s.newBrowser().signIn().cookie("session-token").Value, ".")
		for i := 2; i < 5; i++ {
			mixed := append([]string{}, parts...)
			mixed[i] = other[i]
			null(t, strings.Join(mixed, "."))
		}
	})
	header := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, h := range []string{
		`{"alg":"none"}`, `{"alg":"dir","enc":"A128CBC-HS256"}`, `{"alg":"dir","enc":"A128GCM"}`, `{"alg":"PBES2-HS256+A128KW","enc":"A256CBC-HS512","p2c":2147483647,"p2s":"AAAAAAAAAAA"}`,
		`{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}`, `{"alg":"RSA1_5","enc":"A256GCM"}`, `{"alg":"A256KW","enc":"A256CBC-HS512"}`, `{"alg":"ECDH-ES","enc":"A256GCM","epk":{}}`, `{"alg":"DIR","enc":"A256CBC-HS512"}`,
		`{"alg":"dir","enc":"A256CBC-HS512","zip":"DEF"}`, `{"alg":"dir","enc":"A256CBC-HS512","crit":["exp"],"exp":1}`, `{"alg":null,"enc":null}`, `null`, `[]`, `""`, `{}`, ``,
		`{"alg":"dir","enc":"A256CBC-HS512","kid":"nobody"}`, `{"alg":"dir","enc":"A256CBC-HS512","kid":5}`,
	} {
		t.Run("R-081 header "+h, func(t *testing.T) { null(t, header(h)+"."+strings.Join(parts[1:], ".")) })
	}
	for name, token := range map[string]string{
		"a JWS":                  header(`{"alg":"HS256"}`) + "." + header(`{"sub":"1","exp":9999999999}`) + ".AAAA",
		"JSON serialisation":     `{"protected":"` + parts[0] + `","iv":"` + parts[2] + `","ciphertext":"` + parts[3] + `","tag":"` + parts[4] + `"}`,
		"a token in a token":     s.sealed(`"` + good + `"`),
		"an encrypted key":       parts[0] + ".AAAA." + strings.Join(parts[2:], "."),
		"padding":                good + "=",
		"white space":            parts[0] + ". ." + strings.Join(parts[2:], "."),
		"six parts":              good + ".",
		"four parts":             strings.Join(parts[:4], "."),
		"100,000 dots":           strings.Repeat(".", 100_000),
		"no initial vector":      parts[0] + "..." + parts[3] + "." + parts[4],
		"no ciphertext":          parts[0] + ".." + parts[2] + ".." + parts[4],
		"no tag":                 parts[0] + ".." + parts[2] + "." + parts[3] + ".",
		"half a tag":             good[:len(good)-len(parts[4])/2],
		"a longer tag":           good + "AAAA",
		"a header alone":         parts[0] + "....",
		"dots":                   "....",
		"one block cut off":      parts[0] + ".." + parts[2] + "." + parts[3][:len(parts[3])-22] + "." + parts[4],
		"standard base64 digits": strings.NewReplacer("-", "+", "_", "/").Replace(good) + "+",
	} {
		t.Run("R-083 "+name, func(t *testing.T) { null(t, token) })
	}
	t.Run("R-084 failures look alike", func(t *testing.T) {
		answers := map[string]bool{}
		for _, token := range []string{
			good[:len(good)-1] + "A" + "", s.sealed(`{"exp":1}`), s.sealed("no json"), strings.Replace(good, parts[3], parts[3][:len(parts[3])-22], 1),
		} {
			if token == good {
				continue
			}
			a := s.holding(token).get("/auth/session")
			answers[fmt.Sprint(a.Code, a.cookie("session-token"), a.Body)] = true
		}
		if len(answers) != 1 {
			t.Errorf("%d different answers: %v", len(answers), answers)
		}
	})
	now := s.clock.Now().Unix()
	for name, payload := range map[string]string{
		"text": `"text"`, "a list": `[]`, "null": `null`, "a number": `1`, "nothing": ``, "two objects": `{}{}`,
		"exp as text":           fmt.Sprintf(`{"sub":"1","iat":%d,"exp":"%d"}`, now, now+100),
		"exp null":              fmt.Sprintf(`{"sub":"1","iat":%d,"exp":null}`, now),
		"iat as text":           fmt.Sprintf(`{"sub":"1","iat":"%d","exp":%d}`, now, now+100),
		"nbf as text":           fmt.Sprintf(`{"sub":"1","iat":%d,"exp":%d,"nbf":"1"}`, now, now+100),
		"nbf to come":           fmt.Sprintf(`{"sub":"1","iat":%d,"exp":%d,"nbf":%d}`, now, now+100, now+60),
		"neither exp nor iat":   `{"sub":"1"}`,
		"iat past its maxAge":   fmt.Sprintf(`{"sub":"1","iat":%d}`, now-31*24*3600),
		"exp as a list":         fmt.Sprintf(`{"sub":"1","iat":%d,"exp":[%d]}`, now, now+100),
		"exp an endless number": fmt.Sprintf(`{"sub":"1","iat":%d,"exp":1e999}`, now),
	} {
		t.Run("R-088 "+name, func(t *testing.T) { null(t, s.sealed(payload)) })
	}
	t.Run("R-088 without exp life ends at iat and maxAge", func(t *testing.T) {
		live(t, s.holding(s.sealed(fmt.Sprintf(`{"sub":"1","iat":%d}`, now-29*24*3600))))
	})
}

func TestSealedPurposes(t *testing.T) {
	s, b, params := newAnsweredSite(t, withIssuer(fullChecks))
	checks := []string{"__Secure-authjs.state", "__Secure-authjs.pkce.code_verifier", "__Secure-authjs.nonce"}
	for _, name := range checks {
		t.Run("R-087 "+name+" is no session", func(t *testing.T) { dead(t, s.holding(b.jar[name])) })
	}
	t.Run("R-087 the state itself is no session", func(t *testing.T) { dead(t, s.holding(params.Get("state"))) })
	t.Run("R-087 a session is no check", func(t *testing.T) {
		in := s.newBrowser()
		s.mustSignIn(in)
		for _, name := range checks {
			twin := b.copy()
			twin.jar[name] = in.jar[sessionCookie]
			refused(t, twin.callback("issuer", params), "Configuration")
		}
	})
	t.Run("R-087 checks do not stand for each other", func(t *testing.T) {
		for _, name := range checks {
			for _, other := range checks {
				if name == other {
					continue
				}
				twin := b.copy()
				twin.jar[name] = b.jar[other]
				refused(t, twin.callback("issuer", params), "Configuration")
			}
		}
	})
	t.Run("R-087 one name for two purposes", func(t *testing.T) {
		_, err := latchkey.New(latchkey.Config{
			Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: quiet},
			Cookies: latchkey.Cookies{State: latchkey.CookieOptions{Name: "one"}, SessionToken: latchkey.CookieOptions{Name: "one"}},
		})
		if err == nil {
			t.Error("accepted")
		}
	})
	t.Run("R-087 a purpose of its own beside the salt", func(t *testing.T) {
		codec := jwt.NewCodec([]string{siteSecret}, checks[1])
		for _, purpose := range []string{"pkce", "state", "nonce", "email-link", ""} {
			s, b, params := newAnsweredSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckPKCE} }))
			params.Del("state") // as flows of Auth.js come back, whose cookies name no flow
			claims := jwt.Claims{"value": strings.Repeat("v", 43), "provider": "issuer", "purpose": purpose}
			forged, err := codec.SealClaims(claims, s.clock.Now(), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			b.jar[checks[1]] = forged
			refused(t, b.callback("issuer", params), "Configuration")
			if asked := s.issuer.Count("/token") > 0; asked != (purpose == "pkce") {
				t.Errorf("purpose %q: the token endpoint was asked: %v", purpose, asked)
			}
		}
	})
}

func TestSessionExpiry(t *testing.T) {
	t.Run("R-089 a token", func(t *testing.T) {
		s, b := newEnteredSite(t)
		s.clock.Advance(30*24*time.Hour + 14*time.Second)
		live(t, b)
		s.clock.Advance(time.Second)
		a := b.copy().get("/auth/session")
		if a.Body.String() != "null" {
			t.Errorf("alive 15 seconds later: %s", a.Body)
		}
		cleared(t, a, "session-token")
	})
	t.Run("R-089 a row", func(t *testing.T) {
		s, b := newSignedInOAuthSite(t, stored)
		s.clock.Advance(30*24*time.Hour - time.Millisecond)
		if b.get("/auth/session").Body.String() == "null" {
			t.Error("dead a moment too early")
		}
		s.clock.Advance(30 * 24 * time.Hour)
		a := b.get("/auth/session")
		if a.Body.String() != "null" || len(s.store.Contents().Sessions) != 0 {
			t.Errorf("answered %s with %d rows", a.Body, len(s.store.Contents().Sessions))
		}
		cleared(t, a, "session-token")
	})
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run("R-107 renewal has an end, "+string(strategy), func(t *testing.T) {
			s := newOAuthSite(t, func(c *latchkey.Config) {
				c.Session = latchkey.SessionConfig{Strategy: strategy, MaxAge: 10 * 24 * time.Hour, AbsoluteMaxAge: 30 * 24 * time.Hour}
			})
			b := s.newBrowser()
			s.mustSignIn(b)
			for day := 5; day < 30; day += 5 {
				s.clock.Advance(5 * 24 * time.Hour)
				if !b.isLive() {
					t.Fatalf("dead on day %d", day)
				}
			}
			s.clock.Advance(5 * 24 * time.Hour)
			dead(t, b)
			if n := len(s.store.Contents().Sessions); strategy == latchkey.DatabaseSessions && n != 0 {
				t.Errorf("%d rows are left", n)
			}
		})
	}
}

func TestSessionLife(t *testing.T) {
	t.Run("R-100 a sign-in ends the presented session", func(t *testing.T) {
		for _, again := range []func(s *oauthSite, b *browser) *answer{
			func(s *oauthSite, b *browser) *answer { return s.mustSignIn(b) },
			func(_ *oauthSite, b *browser) *answer { return b.get(b.askForLink("ada@example.com")) },
		} {
			s, b := newSignedInOAuthSite(t, stored)
			old := b.copy()
			if a := again(s, b); !a.signsIn() || b.jar[sessionCookie] == old.jar[sessionCookie] {
				t.Errorf("the token stays: to %q", a.location())
			}
			dead(t, old)
			live(t, b)
			if n := len(s.store.Contents().Sessions); n != 1 {
				t.Errorf("%d rows", n)
			}
		}
	})
	t.Run("R-100 a planted token is not adopted", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		planted := strings.Repeat("f", 64)
		b := s.holding(planted)
		s.mustSignIn(b)
		if b.jar[sessionCookie] == planted {
			t.Error("the planted token became a session")
		}
		dead(t, s.holding(planted))
	})
	t.Run("R-105 signed out, row", func(t *testing.T) {
		s, b := newSignedInOAuthSite(t, stored)
		kept := b.copy()
		a := b.post("/auth/signout")
		cleared(t, a, "session-token")
		dead(t, kept)
		if n := len(s.store.Contents().Sessions); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
	for name, revocable := range map[string]bool{"R-105 signed out, token": false, "R-105 signed out, revocable token": true} {
		t.Run(name, func(t *testing.T) {
			s := newOAuthSite(t, func(c *latchkey.Config) {
				if revocable {
					c.Session.Revocations = c.Adapter.(storage.RevocationStore)
				}
			})
			b := s.newBrowser()
			s.mustSignIn(b)
			b.isLive() // renewed: the copy below is another token of the same sign-in
			kept := b.copy()
			b.isLive()
			cleared(t, b.post("/auth/signout"), "session-token")
			if revocable {
				dead(t, kept)
				s.clock.Advance(time.Second)
				s.mustSignIn(b)
				live(t, b)
			}
		})
	}
	t.Run("R-105 all sessions of a user", func(t *testing.T) {
		s := newOAuthSite(t, func(c *latchkey.Config) { c.Session.Revocations = c.Adapter.(storage.RevocationStore) })
		one, two := s.newBrowser(), s.newBrowser()
		s.mustSignIn(one)
		s.mustSignIn(two)
		if err := s.auth.Users().EndSessions(t.Context(), s.store.Contents().Users[0].ID); err != nil {
			t.Fatal(err)
		}
		dead(t, one)
		dead(t, two)
	})
	t.Run("R-112 a deleted user", func(t *testing.T) {
		s, b := newSignedInOAuthSite(t, stored)
		if _, err := s.store.DeleteUser(t.Context(), s.store.Contents().Users[0].ID); err != nil {
			t.Fatal(err)
		}
		dead(t, b)
		if n := len(s.store.Contents().Sessions); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

func TestTransientFaults(t *testing.T) {
	fault := errors.New("down for a moment")
	for name, fail := range map[string]func(c *latchkey.Config, broken *bool){
		"an error in the token callback": func(c *latchkey.Config, broken *bool) {
			c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
				if *broken {
					return nil, fault
				}
				return u.Claims, nil
			}
		},
		"a panic in the token callback": func(c *latchkey.Config, broken *bool) {
			c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
				if *broken {
					panic(fault)
				}
				return u.Claims, nil
			}
		},
		"an error in the session callback": func(c *latchkey.Config, broken *bool) {
			c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				if *broken {
					return nil, fault
				}
				return r.Session, nil
			}
		},
		"no session from the session callback": func(c *latchkey.Config, broken *bool) {
			c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				if *broken {
					return nil, nil
				}
				return r.Session, nil
			}
		},
	} {
		for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
			if strategy == latchkey.DatabaseSessions && strings.Contains(name, "token callback") {
				continue
			}
			t.Run("R-109 "+name+", "+string(strategy), func(t *testing.T) {
				broken := false
				_, b := newSignedInOAuthSite(t, func(c *latchkey.Config) { c.Session.Strategy = strategy; fail(c, &broken) })
				broken = true
				a := b.get("/auth/session")
				if a.Body.String() != "null" || a.cookie("session-token") != nil {
					t.Errorf("answered %s with %v", a.Body, a.cookie("session-token"))
				}
				broken = false
				live(t, b)
			})
		}
	}
	t.Run("R-109 junk clears the cookie", func(t *testing.T) {
		s := newSite(t)
		cleared(t, s.holding("junk").get("/auth/session"), "session-token")
	})
}
