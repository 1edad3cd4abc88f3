package sitetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
)

const offerPath = "/auth/password?do=offer&callbackUrl="

// offersPasskeys has a site of managed passwords offer passkeys.
func offersPasskeys(c *latchkey.Config) {
	c.Providers = append(c.Providers, &latchkey.WebAuthn{ID: "passkey", Ceremony: anyCeremony{}})
	for _, p := range c.Providers {
		if own, is := p.(*latchkey.Password); is {
			own.OfferPasskey = true
		}
	}
}

func isOffer(a *answer) bool { return strings.HasPrefix(a.location(), siteOrigin+offerPath) }

func TestPasskeyIsOfferedAfterAPassword(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy, offersPasskeys)
		u := s.addUser(annMail, annsPass)
		b := s.newBrowser()
		a := b.post("/auth/callback/password", "email", annMail, "password", annsPass, "callbackUrl", siteOrigin+"/orders?page=2")
		if !isOffer(a) || !b.isLive() {
			t.Fatalf("the sign-in leads to %q\n%s", a.location(), s.log.text())
		}
		offer := strings.TrimPrefix(a.location(), siteOrigin)
		page := b.get(offer)
		for _, want := range []string{`data-latchkey-passkey-add="passkey"`, "data-latchkey-passkey-upgrade", `href="https://app.example/orders?page=2"`, "/auth/client/"} {
			if !strings.Contains(page.Body.String(), want) {
				t.Errorf("the page lacks %s: %d to %q", want, page.Code, page.location())
			}
		}
		b.header.Set("Accept", "application/json")
		var told struct{ Provider, URL string }
		if err := json.Unmarshal(b.get(offer).Body.Bytes(), &told); err != nil || told.Provider != "passkey" || told.URL != siteOrigin+"/orders?page=2" {
			t.Errorf("JSON: %+v, %v", told, err)
		}
		b.header.Del("Accept")
		if a := s.newBrowser().get(offer); a.location() != siteOrigin+"/orders?page=2" {
			t.Errorf("without a session: %d to %q", a.Code, a.location())
		}
		s.clock.Advance(5*time.Minute + time.Second)
		if a := b.get(offer); a.location() != siteOrigin+"/orders?page=2" {
			t.Errorf("after five minutes: %d to %q", a.Code, a.location())
		}
		if a := s.newBrowser().tries(annMail, annsPass); isOffer(a) {
			t.Error("it is offered twice in 30 days")
		}
		s.clock.Advance(30 * 24 * time.Hour)
		if a := s.newBrowser().tries(annMail, annsPass); !isOffer(a) {
			t.Errorf("after 30 days: %q\n%s", a.location(), s.log.text())
		}
		s.clock.Advance(31 * 24 * time.Hour)
		key := storage.Authenticator{CredentialID: []byte("key"), UserID: u.ID, ProviderAccountID: "a2V5", PublicKey: []byte("public"), Created: s.clock.Now()}
		if err := s.store.CreateAuthenticator(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		b = s.newBrowser()
		if a := b.tries(annMail, annsPass); isOffer(a) || b.get(offer).location() != siteOrigin+"/orders?page=2" {
			t.Error("it is offered to a user who has one")
		}
	})
}

func TestPasskeyIsNotOffered(t *testing.T) {
	t.Run("after another kind of sign-in, or where it is off", func(t *testing.T) {
		s := newManagedSite(t, latchkey.JWTSessions, offersPasskeys)
		s.addUser(annMail, annsPass)
		b := s.newBrowser()
		b.post("/auth/signin/post", "email", annMail)
		if a := b.get(path(s.lastMail(latchkey.MessageSignIn))); isOffer(a) || !b.isLive() {
			t.Errorf("a magic link leads to %q", a.location())
		}
		off := newManagedSite(t, latchkey.JWTSessions, offersPasskeys, func(c *latchkey.Config) { c.Providers[3].(*latchkey.Password).OfferPasskey = false })
		off.addUser(annMail, annsPass)
		b = off.newBrowser()
		if a := b.tries(annMail, annsPass); isOffer(a) || b.get(offerPath).Code != http.StatusFound {
			t.Errorf("where it is off: %q", a.location())
		}
	})
	t.Run("where a remembered browser has not shown the second factor", func(t *testing.T) {
		s := newManagedSite(t, latchkey.JWTSessions, withFactors, offersPasskeys)
		f := &factorSite{testSite: s.testSite}
		u := s.addUser(annMail, annsPass)
		f.enrol(u.ID)
		b := s.newBrowser()
		b.tries(annMail, annsPass)
		a := b.factor("totp", f.code(0), "remember", "1")
		if !isOffer(a) || b.get(strings.TrimPrefix(a.location(), siteOrigin)).Code != http.StatusOK {
			t.Fatalf("after both factors: %q\n%s", a.location(), s.log.text())
		}
		s.clock.Advance(29 * 24 * time.Hour)
		b.tries(annMail, annsPass) // the browser is still remembered
		s.clock.Advance(20 * time.Hour)
		if a := b.tries(annMail, annsPass); isOffer(a) || !a.signsIn() {
			t.Errorf("remembered: %q", a.location())
		}
	})
	t.Run("to foreign pages", func(t *testing.T) {
		s := newManagedSite(t, latchkey.JWTSessions, offersPasskeys)
		if a := s.newBrowser().get(offerPath + url.QueryEscape("https://evil.example/")); strings.Contains(a.location(), "evil") {
			t.Errorf("leads to %q", a.location())
		}
	})
	t.Run("configuration", func(t *testing.T) {
		s := newManagedSite(t, latchkey.JWTSessions)
		c := s.config
		c.Providers[3].(*latchkey.Password).OfferPasskey = true
		if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), "Password.OfferPasskey") {
			t.Errorf("without passkeys: %v", err)
		}
	})
}
