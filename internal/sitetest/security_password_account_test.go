package sitetest

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// F-085: a change of the password ends what was; the session that makes it lives on
// under a new token.
func TestChangeOfPassword(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		s.addUser(annMail, annsPass)
		own, other := s.newBrowser(), s.newBrowser()
		own.tries(annMail, annsPass)
		other.tries(annMail, annsPass)
		open := s.resetLink(annMail)
		old := s.newBrowser()
		for name, value := range own.jar {
			old.jar[name] = value
		}
		s.clock.Advance(time.Minute)
		if a := own.get("/auth/account?do=password"); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "current-password") {
			t.Fatalf("F-085 the form: %d", a.Code)
		}
		if a := own.post("/auth/account?do=password", "current", "wrong, but long", "password", newPass); a.Code != http.StatusUnprocessableEntity || !other.isLive() {
			t.Errorf("F-085 a wrong current password: %d", a.Code)
		}
		if a := own.post("/auth/account?do=password", "current", annsPass, "password", newPass); !strings.HasSuffix(a.location(), "/auth/account") || !a.signsIn() {
			t.Fatalf("F-085 %d to %q: %s", a.Code, a.location(), s.log.text())
		}
		if !own.isLive() || other.isLive() || old.isLive() {
			t.Errorf("F-085 this session %v, another one %v, the old token %v", own.isLive(), other.isLive(), old.isLive())
		}
		if !strings.Contains(own.get("/auth/account").Body.String(), "Your password has been saved") {
			t.Error("F-085 the account page says nothing")
		}
		s.clock.Advance(time.Minute)
		if a := s.newBrowser().post(open, "password", "yet another one"); a.error() != "Verification" {
			t.Errorf("F-201 a link from before: %q", a.location())
		}
		if s.newBrowser().tries(annMail, annsPass).signsIn() || !s.newBrowser().tries(annMail, newPass).signsIn() {
			t.Error("F-085 the wrong password works")
		}
		s.lastMail(latchkey.MessagePasswordChanged)
	})
}

// F-086, F-205: an address moves when it is proven, in a session of its user, and the
// owner of the former one can take it back.
func TestChangeOfAddress(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		u := s.addUser(annMail, annsPass)
		bob := s.addUser("bob@example.com", annsPass)
		thief, other := s.newBrowser(), s.newBrowser()
		thief.tries(annMail, annsPass)
		other.tries("bob@example.com", annsPass)
		taken := thief.post("/auth/account?do=email", "email", "bob@example.com")
		asked := thief.post("/auth/account?do=email", "email", "thief@example.com")
		if taken.location() != asked.location() || taken.Code != asked.Code {
			t.Errorf("F-086 a taken address: %q, a free one: %q", taken.location(), asked.location())
		}
		move, undo := path(s.lastMail(latchkey.MessageNewEmail)), path(s.lastMail(latchkey.MessageEmailChange))
		if s.lastMail(latchkey.MessageEmailChange).To != annMail || s.lastMail(latchkey.MessageNewEmail).To != "thief@example.com" {
			t.Error("F-086 the mails go elsewhere")
		}
		if a := other.post(move); a.error() != "Verification" {
			t.Errorf("F-086 in a session of another user: %q", a.location())
		}
		if a := thief.get(move); a.Code != http.StatusOK {
			t.Errorf("F-086 looking: %d", a.Code)
		}
		if got, _ := s.store.GetUser(t.Context(), u.ID); got.Email != annMail {
			t.Fatalf("F-086 looking has moved the address to %q", got.Email)
		}
		if a := thief.post(move); !strings.HasSuffix(a.location(), "/auth/account") {
			t.Fatalf("F-086 %d to %q: %s", a.Code, a.location(), s.log.text())
		}
		if got, _ := s.store.GetUser(t.Context(), u.ID); got.Email != "thief@example.com" || got.EmailVerified.IsZero() || !thief.isLive() {
			t.Errorf("F-086 the user is %+v", got)
		}
		s.clock.Advance(time.Minute)
		thief.post("/auth/account?do=password", "current", annsPass, "password", newPass)

		s.clock.Advance(70 * time.Hour)
		owner := s.newBrowser()
		if a := owner.get(undo); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), annMail) {
			t.Errorf("F-205 looking: %d", a.Code)
		}
		owner.post(undo)
		if got, _ := s.store.GetUser(t.Context(), u.ID); got.Email != annMail {
			t.Errorf("F-205 the address is %q", got.Email)
		}
		s.clock.Advance(time.Minute)
		if thief.isLive() || s.newBrowser().tries(annMail, newPass).signsIn() {
			t.Error("F-205 the thief is still in")
		}
		if a := owner.post(path(s.lastMail(latchkey.MessagePasswordReset)), "password", annsPass); !strings.Contains(a.location(), "done=reset") {
			t.Errorf("F-205 the owner's link: %q", a.location())
		}
		if got, _ := s.store.GetUser(t.Context(), bob.ID); got.Email != "bob@example.com" {
			t.Errorf("F-086 another user has %q", got.Email)
		}
	})
}

// without Site.URL no link could lead back, so that calls without a request mail none.
func TestNoMailsWithoutSiteURL(t *testing.T) {
	for url, mails := range map[string]int{"": 0, siteOrigin: 1} {
		s := newManagedSite(t, latchkey.JWTSessions, func(c *latchkey.Config) { c.Site.URL, c.Site.TrustHost = url, true })
		u, users := s.addUser(annMail, ""), s.auth.Users()
		if err := users.SetPassword(t.Context(), u.ID, annsPass); err != nil {
			t.Fatal(err)
		}
		if err := users.CheckPassword(t.Context(), u.ID, annsPass); err != nil {
			t.Error(err)
		}
		if got := s.sent(); len(got) != mails {
			t.Errorf("R-821 Site.URL %q: %+v", url, got)
		}
	}
}

func TestUsersAndPasswords(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		u := s.addUser(annMail, "")
		users, ctx := s.auth.Users(), t.Context()
		var weak *latchkey.Error
		if err := users.SetPassword(ctx, u.ID, "short"); !errors.As(err, &weak) || weak.Type != latchkey.ErrPassword || weak.Code != "short" {
			t.Errorf("a weak password: %v", err)
		}
		if err := users.SetPassword(ctx, u.ID, annsPass); err != nil {
			t.Fatal(err)
		}
		if err := users.CheckPassword(ctx, u.ID, annsPass); err != nil {
			t.Error(err)
		}
		if err := users.CheckPassword(ctx, u.ID, newPass); !errors.Is(err, latchkey.ErrCredentialsSignin) {
			t.Errorf("a wrong password: %v", err)
		}
		s.clock.Advance(time.Minute)
		b := s.newBrowser()
		b.tries(annMail, annsPass)
		known, err := users.Browsers(ctx, u.ID)
		if err != nil || len(known) != 1 || known[0].ID != "" {
			t.Fatalf("known browsers: %+v, %v", known, err)
		}
		if !strings.Contains(b.get("/auth/account").Body.String(), "Known browsers") {
			t.Error("the account page lists none")
		}
		b.post("/auth/account?do=forget", "browser", known[0].PublicID)
		if err := users.ForgetBrowser(ctx, u.ID, known[0].PublicID); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("forgotten twice: %v", err)
		}
		if err := users.RequireNewPassword(ctx, u.ID); err != nil || b.isLive() {
			t.Errorf("RequireNewPassword: %v, the session %v", err, b.isLive())
		}
		s.clock.Advance(time.Minute)
		if a := b.tries(annMail, annsPass); a.signsIn() || !strings.Contains(a.location(), "type=reset") {
			t.Errorf("F-202 %q", a.location())
		}
		if err := users.SendPasswordReset(ctx, u.ID); err != nil {
			t.Error(err)
		}
		s.newBrowser().post(path(s.lastMail(latchkey.MessagePasswordReset)), "password", newPass)
		s.clock.Advance(time.Minute)
		if !s.newBrowser().tries(annMail, newPass).signsIn() {
			t.Error("the new password does not sign in")
		}
		if err := users.SetPasswordHash(ctx, u.ID, "old$"+annsPass); err != nil {
			t.Error(err)
		}
		s.clock.Advance(time.Minute)
		if !s.newBrowser().tries(annMail, annsPass).signsIn() {
			t.Error("an imported hash does not sign in")
		}
	})
}

func TestChangePasswordPage(t *testing.T) {
	s := newManagedSite(t, latchkey.JWTSessions)
	b := s.newBrowser()
	for page, want := range map[string]string{"": "/auth/account?do=password", "/settings": "/settings"} {
		a := b.serve(s.auth.ChangePasswordPage(page), b.request(http.MethodGet, "/.well-known/change-password", "", ""))
		if a.Code != http.StatusFound || !strings.HasSuffix(a.location(), want) {
			t.Errorf("%q: %d to %q", page, a.Code, a.location())
		}
	}
	off := newSite(t)
	if a := off.newBrowser().serve(off.auth.ChangePasswordPage(""), b.request(http.MethodGet, "/.well-known/change-password", "", "")); a.Code != http.StatusNotFound {
		t.Errorf("without passwords: %d", a.Code)
	}
}

// the handlers for /.well-known answer a host that is not the site's as a route does.
func TestWellKnownForStrayHosts(t *testing.T) {
	s := newManagedSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
		c.Site.URL, c.Site.AllowedHosts = "", []string{"app.example.com"}
	})
	b := s.newBrowser()
	for name, h := range map[string]http.Handler{
		"webauthn": s.auth.RelatedOrigins(), "passkey-endpoints": s.auth.PasskeyEndpoints(""), "change-password": s.auth.ChangePasswordPage(""),
	} {
		r := b.request(http.MethodGet, "/.well-known/"+name, "", "")
		r.Host = "elsewhere.example"
		route := b.request(http.MethodGet, "/auth/signin", "", "")
		route.Host = r.Host
		if got, want := b.serve(h, r).Code, b.serve(s.auth, route).Code; got != want || got != http.StatusBadRequest {
			t.Errorf("R-830 %s: status %d, a route %d", name, got, want)
		}
	}
}

// F-207: a user without a passkey keeps the password; with one it goes, and with it what
// it has opened elsewhere.
func TestRemovalOfPassword(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy, func(c *latchkey.Config) {
			c.Providers = append(c.Providers, &latchkey.WebAuthn{ID: "passkey", Ceremony: anyCeremony{}})
		})
		ann := s.addUser(annMail, annsPass)
		own, other := s.newBrowser(), s.newBrowser()
		own.tries(annMail, annsPass)
		other.tries(annMail, annsPass)
		own.post("/auth/account?do=nopassword")
		if page := own.get("/auth/account").Body.String(); s.store.Contents().Passwords == nil || strings.Contains(page, "do=nopassword") || !other.isLive() {
			t.Errorf("F-207 the only way in is gone, or offered: %s", s.log.text())
		}
		account := storage.Account{UserID: ann.ID, Provider: "passkey", ProviderAccountID: "YW5u", Type: storage.TypeWebAuthn}
		key := storage.Authenticator{CredentialID: []byte("ann"), UserID: ann.ID, ProviderAccountID: "YW5u", PublicKey: []byte("k")}
		if err := errors.Join(s.store.LinkAccount(t.Context(), account), s.store.CreateAuthenticator(t.Context(), key)); err != nil {
			t.Fatal(err)
		}
		if page := own.get("/auth/account").Body.String(); !strings.Contains(page, "do=nopassword") {
			t.Error("F-207 the page does not offer it")
		}
		s.clock.Advance(11 * time.Minute)
		if a := own.post("/auth/account?do=nopassword"); !leadsToProof(a, "recent") {
			t.Errorf("F-044 without a recent proof: %d to %q", a.Code, a.location())
		}
		own.post("/auth/reauth", "use", "password", "password", annsPass)
		if a := own.post("/auth/account?do=nopassword"); !a.signsIn() || !own.isLive() || other.isLive() {
			t.Errorf("F-085 %d to %q, live: %t %t\n%s", a.Code, a.location(), own.isLive(), other.isLive(), s.log.text())
		}
		s.lastMail(latchkey.MessagePasswordChanged)
		s.clock.Advance(time.Minute)
		if b := s.newBrowser(); b.tries(annMail, annsPass).signsIn() || b.isLive() {
			t.Error("F-085 the password still lets in")
		}
	})
}
