package sitetest

import (
	"encoding/base32"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/storage"
)

// factorSite is a site with second factors whose user Alice has an authenticator app
// and recovery codes.
type factorSite struct {
	*testSite
	secret []byte // of Alice's app
	codes  []string
}

// withFactors offers every kind but passkeys.
func withFactors(c *latchkey.Config) {
	c.Factors.Kinds = []latchkey.FactorKind{latchkey.FactorTOTP, latchkey.FactorEmail, latchkey.FactorRecovery}
}

// newFactorSite makes the site. Alice signs in with the password of newSite.
func newFactorSite(t testing.TB, change ...func(*latchkey.Config)) *factorSite {
	t.Helper()
	s := &factorSite{testSite: newSite(t, append([]func(*latchkey.Config){withFactors}, change...)...)}
	s.addUser("alice-1", "alice@example.com")
	s.enrol("alice-1")
	return s
}

func (s *factorSite) addUser(id, email string) {
	s.t.Helper()
	u := latchkey.User{ID: id, Name: "Alice", Email: email, EmailVerified: s.clock.Now()}
	if _, err := s.store.CreateUser(s.t.Context(), u); err != nil {
		s.t.Fatal(err)
	}
}

// enrol sets up an app for a user, whose first code is of now.
func (s *factorSite) enrol(userID string) {
	s.t.Helper()
	e, err := s.auth.Users().BeginTOTP(s.t.Context(), userID)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.secret, err = base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(e.Secret); err != nil {
		s.t.Fatal(err)
	}
	codes, err := s.auth.Users().ConfirmTOTP(s.t.Context(), userID, e.ID, "phone", s.code(0))
	if err != nil {
		s.t.Fatal(err)
	}
	s.codes = codes
	s.clock.Advance(time.Minute) // the code is used up, and the instant of the change has passed
}

// code is the code of Alice's app, some steps from now.
func (s *factorSite) code(steps int64) string {
	return otp.Code(s.secret, otp.Step(s.clock.Now())+steps)
}

// password sends Alice's password and returns the answer.
func (b *browser) password() *answer {
	b.site.t.Helper()
	return b.post("/auth/callback/crew", "username", "alice", "password", "wonderland")
}

// challenge sends Alice's password, after which the second factor is asked for.
func (b *browser) challenge() {
	b.site.t.Helper()
	if a := b.password(); a.location() != siteOrigin+"/auth/factor" || a.signsIn() {
		b.site.t.Fatalf("the password leads to %q, signed in: %t", a.location(), a.signsIn())
	}
}

// factor sends a code of a kind.
func (b *browser) factor(kind latchkey.FactorKind, code string, more ...string) *answer {
	b.site.t.Helper()
	return b.post("/auth/factor", append([]string{"use", string(kind), "code", code}, more...)...)
}

// bothStrategies runs a test with sessions in tokens and in rows.
func bothStrategies(t *testing.T, test func(t *testing.T, with func(*latchkey.Config))) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			test(t, func(c *latchkey.Config) { c.Session.Strategy = strategy })
		})
	}
}

func TestSecondFactor(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		s := newFactorSite(t, with)
		b := s.newBrowser()
		before := s.written()
		b.challenge()
		t.Run("F-006 nothing is written about the user", func(t *testing.T) {
			if got := s.written(); got != before {
				t.Errorf("%s\nwas\n%s", got, before)
			}
		})
		t.Run("F-007 half signed in is nobody", func(t *testing.T) {
			if got := b.session(); got != "null" {
				t.Errorf("the session is %s", got)
			}
			guarded := s.auth.RequireSession(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the guard let in") }))
			b.serve(guarded, b.request(http.MethodGet, "/private", "", ""))
		})
		t.Run("F-008 the pending cookie is no session token", func(t *testing.T) {
			half := b.jar["__Secure-authjs.pending"]
			thief := s.newBrowser()
			thief.jar["__Secure-authjs.session-token"] = half
			if half == "" || thief.session() != "null" {
				t.Error("it opens a session")
			}
		})
		t.Run("the page asks for the code", func(t *testing.T) {
			a := b.get("/auth/factor")
			if a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `autocomplete="one-time-code"`) || strings.Contains(a.Body.String(), "alice@example.com") {
				t.Errorf("%d: %.100s", a.Code, a.Body)
			}
		})
		if a := b.factor("totp", "000000"); a.error() != "SecondFactor" || a.signsIn() {
			t.Errorf("a wrong code leads to %q", a.location())
		}
		if a := b.factor("totp", s.code(0)); !a.signsIn() || b.jar["__Secure-authjs.pending"] != "" {
			t.Fatalf("the right code leads to %q, cookies %v", a.location(), b.jar)
		}
		session := s.sessionOf(b)
		if session == nil || session.UserID != "alice-1" || strings.Join(session.AMR, " ") != "pwd otp mfa" || session.ACR != "aal2" || session.Proved.IsZero() {
			t.Errorf("%+v", session)
		}
	})
}

// sessionOf is the session of a browser as Go sees it; nil: none.
func (s *testSite) sessionOf(b *browser) (found *latchkey.Session) {
	h := s.auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { found = latchkey.SessionFrom(r.Context()) }))
	b.serve(h, b.request(http.MethodGet, "/any", "", ""))
	return found
}

// written is everything in the store but what waits, as text to compare.
func (s *testSite) written() string {
	s.t.Helper()
	c := s.store.Contents()
	c.Challenges = nil
	raw, err := json.Marshal([]any{c, recordsOf[storage.AccountRecord](c.Accounts), recordsOf[storage.StoredSessionRecord](c.Sessions)})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(raw)
}

var (
	shownSecret = regexp.MustCompile(`<strong dir="ltr">([A-Z2-7 ]+)</strong>`)
	shownCode   = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){5}`)
)

// secretOn returns the secret that an enrolment page shows.
func secretOn(t *testing.T, a *answer) []byte {
	t.Helper()
	found := shownSecret.FindStringSubmatch(a.Body.String())
	if found == nil || !strings.Contains(a.Body.String(), "<svg ") || !strings.Contains(a.Body.String(), "otpauth://totp/") {
		t.Fatalf("no secret, image or link: %d to %q", a.Code, a.location())
	}
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ReplaceAll(found[1], " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// codesOn returns the recovery codes that an answer has.
func codesOn(a *answer) []string { return shownCode.FindAllString(a.Body.String(), -1) }
