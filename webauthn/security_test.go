package webauthn_test

import (
	"bytes"
	"context"
	"crypto/elliptic"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// challenges are long, and never the same.
func TestChallenges(t *testing.T) {
	s := newSite(t, nil)
	seen := map[string]bool{}
	for range 20 {
		for _, query := range []string{"?action=authenticate", "?action=register&email=ada@example.com"} {
			b, _ := s.visit()
			o, _ := ask(t, b, query)
			if raw, err := base64.RawURLEncoding.DecodeString(o.Options.Challenge); err != nil || len(raw) != 32 || seen[o.Options.Challenge] {
				t.Errorf("challenge %q, seen %v", o.Options.Challenge, seen[o.Options.Challenge])
			}
			seen[o.Options.Challenge] = true
		}
	}
}

// a challenge belongs to its browser, its provider and its purpose.
func TestChallengesAreBound(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.Providers = append(c.Providers, webauthn.Provider(latchkey.WebAuthn{SkipConditionalUI: true}))
	})
	b, a := s.member("ada@example.com")
	_, raw := ask(t, b, "?action=authenticate")
	answer := must(a.Get(raw))
	t.Run("R-161 another browser", func(t *testing.T) {
		thief, _ := s.visit()
		if p := thief.PostPasskey(a, answer); p.Error() != "Configuration" {
			t.Errorf("without the cookie: %q", p.Error())
		}
		isIn(t, thief, "")
		ask(t, thief, "?action=authenticate")
		refused(t, thief, thief.PostPasskey(a, answer))
	})
	t.Run("R-161 another provider", func(t *testing.T) {
		thief, _ := s.visit()
		thief.SetCookie(b.Cookie("authjs.challenge"))
		elsewhere := latchkeytest.NewAuthenticator(s.url)
		elsewhere.Provider = "webauthn"
		if p := thief.PostPasskey(elsewhere, answer); p.Error() != "Configuration" {
			t.Errorf("got %d, %v", p.Status, p.Location())
		}
		thief.PasskeyOptions(elsewhere, "authenticate", "") // beside that of the other
		refused(t, thief, thief.PostPasskey(elsewhere, answer))
	})
	t.Run("R-161 R-164 another purpose", func(t *testing.T) {
		thief, fresh := s.visit()
		o, _ := ask(t, thief, "?action=register&email=eve@example.com")
		refused(t, thief, thief.PostPasskey(a, must(a.Get([]byte(`{"challenge":"`+o.Options.Challenge+`"}`)))))
		o, _ = ask(t, thief, "?action=authenticate")
		made := must(fresh.Create([]byte(`{"rp":{"name":"Example"},"user":{"id":"YQ","name":"eve"},"challenge":"` + o.Options.Challenge + `"}`)))
		refused(t, thief, thief.PostPasskey(fresh, made))
		s.holds(t, 1, 1)
	})
	b.PostPasskey(a, answer) // none of that spent it
	isIn(t, b, "ada@example.com")
}

// a challenge ends after 15 minutes.
func TestChallengesEnd(t *testing.T) {
	var later atomic.Int64
	s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.Runtime.Time = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	_, a := s.member("ada@example.com")
	for after, want := range map[time.Duration]string{14 * time.Minute: "ada@example.com", 16 * time.Minute: ""} {
		later.Store(0)
		b, _ := s.visit()
		_, raw := ask(t, b, "?action=authenticate")
		kept := b.Cookie("authjs.challenge")
		kept.Expires, kept.MaxAge = time.Time{}, 0 // a browser that keeps it longer than it was told
		b.SetCookie(kept)
		later.Store(int64(after))
		p := b.PostPasskey(a, must(a.Get(raw)))
		if isIn(t, b, want); want == "" && p.Error() == "" {
			t.Errorf("after %s: %v", after, p.Location())
		}
	}
}

// the first answer spends the challenge, right or wrong, in every copy of
// the browser.
func TestAnswersOnce(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.member("ada@example.com")
	_, raw := ask(t, b, "?action=authenticate")
	answer, kept := must(a.Get(raw)), b.Cookie("authjs.challenge")
	b.PostPasskey(a, answer)
	isIn(t, b, "ada@example.com")
	if b.Cookie("authjs.challenge") != nil {
		t.Error("R-163 the cookie of a spent challenge is left")
	}
	thief, _ := s.visit()
	thief.SetCookie(kept)
	refused(t, thief, thief.PostPasskey(a, answer))

	t.Run("R-163 after a wrong answer", func(t *testing.T) {
		b, _ := s.visit()
		_, raw := ask(t, b, "?action=authenticate")
		kept, right := b.Cookie("authjs.challenge"), must(a.Get(raw))
		a.Misbehave(bad{Sign: latchkeytest.SignDamaged})
		refused(t, b, b.PostPasskey(a, must(a.Get(raw))))
		a.Misbehave(bad{})
		b.SetCookie(kept)
		refused(t, b, b.PostPasskey(a, right))
	})
	t.Run("R-163 a registration", func(t *testing.T) {
		b, fresh := s.visit()
		_, raw := ask(t, b, "?action=register&email=bob@example.com")
		kept, answer := b.Cookie("authjs.challenge"), must(fresh.Create(raw))
		b.PostPasskey(fresh, answer)
		isIn(t, b, "bob@example.com")
		thief, _ := s.visit()
		thief.SetCookie(kept)
		refused(t, thief, thief.PostPasskey(fresh, answer))
		s.holds(t, 2, 2)
	})
}

// atOnce posts an answer many times at one time and counts what signed in.
func (s *site) atOnce(t *testing.T, b *latchkeytest.Client, answers ...[]byte) (in int) {
	t.Helper()
	token, cookies := b.CSRFToken(), b.Cookies()
	results := make([]*httptest.ResponseRecorder, len(answers))
	var all sync.WaitGroup
	for i, answer := range answers {
		results[i] = httptest.NewRecorder()
		form := url.Values{"action": {"authenticate"}, "data": {string(answer)}, "csrfToken": {token}}
		r := httptest.NewRequest(http.MethodPost, s.url+"/auth/callback/passkey", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
		}
		all.Go(func() { s.auth.ServeHTTP(results[i], r) })
	}
	all.Wait()
	for _, w := range results {
		if slices.ContainsFunc(w.Result().Cookies(), func(c *http.Cookie) bool { return c.Name == "authjs.session-token" && c.MaxAge >= 0 }) {
			in++
		}
	}
	return in
}

func TestAnswersOnceAtOneTime(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.member("ada@example.com")
	_, raw := ask(t, b, "?action=authenticate")
	answers := slices.Repeat([][]byte{must(a.Get(raw))}, 16)
	if in := s.atOnce(t, b, answers...); in != 1 {
		t.Errorf("R-163: %d of %d signed in", in, len(answers))
	}
}

// every origin that is configured is one, and no other.
func TestOrigins(t *testing.T) {
	s := newSite(t, func(_ *latchkey.Config, p *latchkey.WebAuthn) {
		p.RelyingParty = func(*latchkey.Request) passkey.RelyingParty {
			return passkey.RelyingParty{ID: "example.org", Origins: []string{"https://example.org", "https://example.net", "https://shop.example.org:8443"}}
		}
	})
	for origin, right := range map[string]bool{
		"https://example.org": true, "https://example.net": true, "https://shop.example.org:8443": true,
		"https://shop.example.org": false, "https://shop.example.net": false, "http://example.net": false, "": false,
	} {
		t.Run("R-166 "+origin, func(t *testing.T) {
			b, a := s.visit()
			a.Origin = "https://example.org"
			a.Misbehave(said("origin", origin))
			if !right {
				refused(t, b, b.TryRegisterPasskey(a, "eve@example.com"))
				return
			}
			b.RegisterPasskey(a, url.QueryEscape(origin)+"@example.com")
			b.SignOut()
			b.SignInByPasskey(a, "")
		})
	}
}

// what is only preferred is not demanded.
func TestUserVerification(t *testing.T) {
	for _, wanted := range []passkey.Requirement{passkey.Preferred, passkey.Discouraged} {
		s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
			p := webauthn.Provider(latchkey.WebAuthn{ID: "passkey"})
			p.Authentication.UserVerification, p.Registration.UserVerification = wanted, wanted
			c.Providers = []latchkey.Provider{p}
		})
		for _, unverified := range []bool{true, false} {
			b, a := s.visit()
			a.Unverified = unverified
			b.RegisterPasskey(a, string(wanted)+map[bool]string{true: "-not"}[unverified]+"@example.com")
			b.SignOut()
			b.SignInByPasskey(a, "")
			s.refusesSignIn(t, a, absent())
		}
	}
}

// absent: nobody touched it.
func absent() bad {
	return bad{AuthenticatorData: func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagUserPresent }}
}

// a passkey may be made without asking right after another sign-in, for
// who is signed in and nobody else.
func TestConditionalCreate(t *testing.T) {
	s := newSite(t, nil)
	silently := func(b *latchkeytest.Client, query string) *latchkeytest.Page {
		a := latchkeytest.NewAuthenticator(s.url)
		a.Misbehave(bad{AuthenticatorData: func(d *latchkeytest.AuthenticatorData) {
			d.Flags &^= latchkeytest.FlagUserPresent | latchkeytest.FlagUserVerified
		}})
		_, raw := ask(t, b, "?action=register"+query)
		return b.PostPasskey(a, must(a.Create(raw)))
	}
	b, a := s.member("ada@example.com")
	b.SignInByPasskey(a, "")
	if p := silently(b, "&mediation=conditional"); p.Error() != "" {
		t.Errorf("R-169: %q", p.Error())
	}
	s.holds(t, 1, 2)
	if p := silently(b, ""); p.Error() == "" {
		t.Error("R-169: without being asked for")
	}
	stranger, _ := s.visit()
	refused(t, stranger, silently(stranger, "&email=eve@example.com&mediation=conditional"))
	s.holds(t, 1, 2)
}

// a signature has one form, where its algorithm has one.
func TestSignatureForms(t *testing.T) {
	type der struct{ R, S *big.Int }
	parts := func(signature []byte) (v der) {
		_ = must(asn1.Unmarshal(signature, &v))
		return v
	}
	// The order of Ed25519's group: 2^252 + 27742317777372353535851937790883648493.
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	for name, c := range map[string]struct {
		algorithm string
		spoil     func([]byte) []byte
	}{
		"Ed25519, S beyond the order": {"EdDSA", func(b []byte) []byte {
			s := slices.Clone(b[32:])
			slices.Reverse(s)
			more := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
			slices.Reverse(more)
			return slices.Concat(b[:32], more)
		}},
		"ES256, S beyond the order": {"ES256", func(b []byte) []byte {
			v := parts(b)
			v.S.Add(v.S, elliptic.P256().Params().N)
			return must(asn1.Marshal(v))
		}},
		"ES256, S below zero": {"ES256", func(b []byte) []byte {
			v := parts(b)
			v.S.Sub(v.S, elliptic.P256().Params().N)
			return must(asn1.Marshal(v))
		}},
		"ES256, as in a JWT": {"ES256", func(b []byte) []byte {
			v := parts(b)
			return append(v.R.FillBytes(make([]byte, 32)), v.S.FillBytes(make([]byte, 32))...)
		}},
		"ES256, a long length": {"ES256", func(b []byte) []byte { return slices.Concat(b[:1], []byte{0x81}, b[1:]) }},
		"ES256, a zero in front": {"ES256", func(b []byte) []byte {
			return slices.Concat([]byte{b[0], b[1] + 1, b[2], b[3] + 1, 0}, b[4:])
		}},
		"RS256, a zero in front": {"RS256", func(b []byte) []byte { return append([]byte{0}, b...) }},
		"RS256, of ones":         {"RS256", func(b []byte) []byte { return append(make([]byte, len(b)-1), 1) }},
	} {
		t.Run("R-171 "+name, func(t *testing.T) {
			s := newSite(t, nil)
			_, a := s.member("ada@example.com", func(a *latchkeytest.Authenticator) { a.Algorithm = c.algorithm })
			s.refusesSignIn(t, a, bad{Signature: c.spoil})
		})
	}
}

// a counter that counts must rise; what it said last is kept.
func TestCounter(t *testing.T) {
	var told []latchkey.Event
	s := newSite(t, func(c *latchkey.Config, _ *latchkey.WebAuthn) {
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error { told = append(told, e); return nil }
	})
	_, a := s.member("ada@example.com")
	kept := uint32(0)
	for _, step := range []struct {
		says uint32
		ok   bool
	}{{0, true}, {0, true}, {10, true}, {10, false}, {9, false}, {0, false}, {11, true}, {1<<32 - 1, true}, {0, false}, {1, false}} {
		told = nil
		b, _ := s.visit()
		a.Misbehave(bad{AuthenticatorData: func(d *latchkeytest.AuthenticatorData) { d.Counter = step.says }})
		if step.ok {
			b.SignInByPasskey(a, "")
			kept = step.says
		} else {
			refused(t, b, b.TryPasskey(a, ""))
		}
		raised := slices.ContainsFunc(told, func(e latchkey.Event) bool {
			return e.Type == event.PasskeyCounter && e.Outcome == event.Failed && e.UserID != ""
		})
		if raised == step.ok {
			t.Errorf("R-172 counter %d: told %v", step.says, told)
		}
		if got := s.store.Contents().Authenticators[0].Counter; got != kept {
			t.Errorf("R-172 after %d the store says %d, want %d", step.says, got, kept)
		}
	}
}

// a key that cannot be copied never says that it was, nor the other way
// round.
func TestBackupFlags(t *testing.T) {
	s := newSite(t, nil)
	_, bound := s.member("ada@example.com", func(a *latchkeytest.Authenticator) { a.DeviceBound = true })
	s.refusesSignIn(t, bound, data(func(d *latchkeytest.AuthenticatorData) { d.Flags |= latchkeytest.FlagBackedUp }))
	s.refusesSignIn(t, bound, data(func(d *latchkeytest.AuthenticatorData) {
		d.Flags |= latchkeytest.FlagBackupEligible | latchkeytest.FlagBackedUp
	}))
	b, synced := s.member("bob@example.com")
	for _, backedUp := range []bool{false, true} {
		synced.Passkeys()[0].BackedUp = backedUp
		b.SignInByPasskey(synced, "")
		if row, err := s.store.GetAuthenticator(t.Context(), synced.Passkeys()[0].ID); err != nil || row.BackedUp != backedUp {
			t.Errorf("the store says %v, %v", row.BackedUp, err)
		}
	}
}

// of a key and its copy the second is found out, also at one time.
func TestClone(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.member("ada@example.com", func(a *latchkeytest.Authenticator) { a.DeviceBound = true })
	clone := a.Clone()
	b.SignInByPasskey(a, "")
	b.SignInByPasskey(a, "")
	thief, _ := s.visit()
	refused(t, thief, thief.TryPasskey(clone, ""))

	clone = a.Clone()
	both, _ := s.visit()
	_, one := ask(t, both, "?action=authenticate")
	_, two := ask(t, both, "?action=authenticate")
	if in := s.atOnce(t, both, must(a.Get(one)), must(clone.Get(two))); in != 1 {
		t.Errorf("R-172: %d signed in with the same count", in)
	}
}

// who was named, or is signed in, is asked for their own passkeys.
func TestAnotherPasskey(t *testing.T) {
	s := newSite(t, nil)
	ada, adas := s.member("ada@example.com")
	ada.SignInByPasskey(adas, "")
	b, eves := s.member("eve@example.com")
	other := bad{Use: eves.Passkeys()[0]}

	eves.Misbehave(other)
	refused(t, b, b.TryPasskey(eves, "ada@example.com"))
	refused(t, b, b.TryPasskey(eves, "nobody@example.com"))
	if p := ada.TryPasskey(eves, ""); p.Error() != string(latchkey.ErrWebAuthnVerification) {
		t.Errorf("R-173 signed in as ada, with the passkey of eve: %q", p.Error())
	}
	isIn(t, ada, "ada@example.com")
	eves.Misbehave(bad{})
	b.SignInByPasskey(eves, "eve@example.com")
	s.holds(t, 2, 2)

	stranger, unknown := s.visit()
	options := `{"rp":{"name":"x"},"user":{"id":"YQ","name":"x"},"challenge":"AAAA"}`
	must(unknown.Create([]byte(options)))
	refused(t, stranger, stranger.TryPasskey(unknown, ""))
}

// where somebody was asked for, an authenticator need not say whose the
// passkey is; where nothing is on record, it may say what it likes.
func TestUserHandle(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.member("ada@example.com")
	silent := answered(func(response map[string]any) { delete(response, "userHandle") })
	a.Misbehave(silent)
	b.SignInByPasskey(a, "ada@example.com")
	s.refusesSignIn(t, a, silent)

	row := s.store.Contents().Authenticators[0]
	row.UserHandle = nil // as registered by Auth.js
	must(0, s.store.DeleteAuthenticator(t.Context(), row.CredentialID))
	must(0, s.store.CreateAuthenticator(t.Context(), row))
	for _, m := range []bad{silent, {}, answered(func(response map[string]any) { response["userHandle"] = "YW55Ym9keQ" })} {
		old, _ := s.visit()
		a.Misbehave(m)
		old.SignInByPasskey(a, "")
	}
}

// ids of any length that is allowed work, and belong to one passkey.
func TestCredentialIDs(t *testing.T) {
	s := newSite(t, nil)
	withID := func(id []byte) func(*latchkeytest.Authenticator) {
		return func(a *latchkeytest.Authenticator) {
			a.Misbehave(bad{AuthenticatorData: func(d *latchkeytest.AuthenticatorData) {
				if d.CredentialID != nil {
					d.CredentialID = id
				}
			}})
		}
	}
	long := bytes.Repeat([]byte{7}, 1023)
	b, adas := s.member("ada@example.com", withID(long))
	b.SignInByPasskey(adas, "")
	b, bobs := s.member("bob@example.com", withID([]byte{7}))
	b.SignInByPasskey(bobs, "")
	before := s.store.Contents().Authenticators

	for name, id := range map[string][]byte{"R-181 one byte more": append(long, 7), "R-181 far more": bytes.Repeat([]byte{7}, 8_000)} {
		t.Run(name, func(t *testing.T) {
			b, a := s.visit()
			withID(id)(a)
			refused(t, b, b.TryRegisterPasskey(a, "eve@example.com"))
		})
	}
	for name, who := range map[string]*latchkeytest.Authenticator{"R-181 by somebody new": nil, "R-181 by its owner": adas, "R-181 by another user": bobs} {
		t.Run(name, func(t *testing.T) {
			thief, copied := s.visit()
			withID(long)(copied)
			if who != nil {
				thief.SignInByPasskey(who, "")
			}
			if p := thief.TryRegisterPasskey(copied, "eve@example.com"); p.Error() != string(latchkey.ErrAccountNotLinked) {
				t.Errorf("%d %v", p.Status, p.Location())
			}
		})
	}
	after := s.store.Contents().Authenticators
	for _, row := range before {
		if !slices.ContainsFunc(after, func(k storage.Authenticator) bool {
			return bytes.Equal(k.CredentialID, row.CredentialID) && bytes.Equal(k.PublicKey, row.PublicKey) && k.UserID == row.UserID && k.Counter == row.Counter
		}) {
			t.Errorf("the row of an id of %d bytes was touched", len(row.CredentialID))
		}
	}
}

// TestForSomebodyElse: R-182. A passkey is for who is signed in, or for an e-mail
// address that nobody has.
func TestForSomebodyElse(t *testing.T) {
	s := newSite(t, nil)
	ada, adas := s.member("ada@example.com")
	ada.SignInByPasskey(adas, "")

	eve, eves := s.visit()
	if p := eve.PasskeyOptions(eves, "register", "ada@example.com"); p.Status != http.StatusBadRequest {
		t.Errorf("options to register for ada: %d", p.Status)
	}
	if p := eve.PasskeyOptions(eves, "register", ""); p.Status != http.StatusBadRequest {
		t.Errorf("options to register for nobody: %d", p.Status)
	}
	_, raw := ask(t, eve, "?action=register&email=bob@example.com")
	bob, bobs := s.member("bob@example.com")
	bob.SignInByPasskey(bobs, "")
	if p := eve.PostPasskey(eves, must(eves.Create(raw))); p.Error() != string(latchkey.ErrAccountNotLinked) {
		t.Errorf("for an e-mail address that was taken meanwhile: %q", p.Error())
	}
	isIn(t, eve, "")

	_, second := s.visit()
	_, raw = ask(t, ada, "?action=register")
	ada.SignOut()
	if p := ada.PostPasskey(second, must(second.Create(raw))); p.Error() != "Configuration" {
		t.Errorf("after the session has ended: %q", p.Error())
	}
	_, raw = ask(t, bob, "?action=register")
	kept := bob.Cookie("authjs.challenge")
	ada.SignInByPasskey(adas, "")
	ada.SetCookie(kept)
	if p := ada.PostPasskey(second, must(second.Create(raw))); p.Location() != nil { // a page says that she is signed in
		t.Errorf("in another's session: %s", p.Location())
	}
	s.holds(t, 2, 2)
}

// TestCrossSite: R-122.
func TestCrossSite(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.member("ada@example.com")
	_, raw := ask(t, b, "?action=authenticate")
	answer := must(a.Get(raw))
	b.CSRFToken()
	for name, c := range map[string]struct {
		token, site string
		status      int
		want        string
	}{
		"R-122 from another site": {"", "cross-site", http.StatusForbidden, ""},
		"R-122 a wrong token":     {"wrong", "", http.StatusFound, "MissingCSRF"},
	} {
		t.Run(name, func(t *testing.T) {
			form := url.Values{"action": {"authenticate"}, "data": {string(answer)}}
			if c.token != "" {
				form.Set("csrfToken", c.token)
			}
			r := httptest.NewRequest(http.MethodPost, s.url+"/auth/callback/passkey", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			for _, cookie := range b.Cookies() {
				r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
			}
			w := httptest.NewRecorder()
			s.auth.ServeHTTP(w, r)
			to, _ := w.Result().Location()
			if w.Code != c.status || c.want != "" && (to == nil || to.Query().Get("error") != c.want) {
				t.Errorf("got %d, %v", w.Code, to)
			}
		})
	}
}

// TestStrangersLearnNothing: R-184.
func TestStrangersLearnNothing(t *testing.T) {
	for _, list := range []passkey.CredentialList{passkey.ListNone, passkey.ListDecoys} {
		s := newSite(t, func(c *latchkey.Config, p *latchkey.WebAuthn) {
			c.Hardened = list == passkey.ListNone // its default
			if !c.Hardened {
				p.ListCredentials = list
			}
		})
		_, a := s.member("ada@example.com")
		s.name(t, "ada@example.com", "Ada Secret Lovelace")
		for _, query := range []string{"", "&action=authenticate", "&action=register"} {
			known, unknown, again := shape(t, s, "ada@example.com", query), shape(t, s, "bob@example.com", query), shape(t, s, "bob@example.com", query)
			if known.text != unknown.text || strings.Join(unknown.ids, " ") != strings.Join(again.ids, " ") {
				t.Errorf("%s%s: %+v and %+v, and then %+v", list, query, known, unknown, again)
			}
		}
		eve, eves := s.visit()
		if p := eve.TryRegisterPasskey(eves, "ada@example.com"); p.Error() == "" {
			t.Errorf("%s: signed up with an e-mail address that is taken", list)
		}
		other, _ := s.visit()
		other.SignInByPasskey(a, "ada@example.com")
		isIn(t, other, "ada@example.com")
	}
	s := newSite(t, nil)
	_, a := s.member("ada@example.com")
	if known := shape(t, s, "ada@example.com", ""); len(known.ids) != 1 || known.ids[0] != b64(a.Passkeys()[0].ID) {
		t.Errorf("%s: %v", passkey.ListKnown, known)
	}
}

// chosenAnew are the values of options that differ from one time to the next.
var chosenAnew = regexp.MustCompile(`"(challenge|id)":"[^"]*"`)

type shaped struct {
	text string
	ids  []string
}

// shape is what a stranger sees of options.
func shape(t *testing.T, s *site, email, query string) (seen shaped) {
	t.Helper()
	b, _ := s.visit()
	o, raw := ask(t, b, "?email="+email+query)
	for _, k := range o.Options.AllowCredentials {
		seen.ids = append(seen.ids, k.ID)
	}
	seen.text = o.Action + strings.Repeat(" key", len(seen.ids)) + strings.Repeat(" excluded", len(o.Options.Exclude))
	seen.text += strings.ReplaceAll(chosenAnew.ReplaceAllString(string(raw), ""), email, "EMAIL")
	for _, k := range b.Cookies() { // sealed, but as long as what is in it
		if strings.HasSuffix(k.Name, "authjs.challenge") {
			seen.text += fmt.Sprint(" ", len(k.Value))
		}
	}
	return seen
}

// TestMalformed. Nothing that a stranger posts is an error of ours.
func TestMalformed(t *testing.T) {
	s := newSite(t, nil)
	for _, data := range []string{"", "{", "null", "[]", `"x"`, "7", "\xff", strings.Repeat("[", 10_000), `{"id":"AAAA","id":"BBBB"}`} {
		for _, action := range []string{"authenticate", "register", "", "other"} {
			b, _ := s.visit()
			ask(t, b, "?action=authenticate")
			ask(t, b, "?action=register&email=eve@example.com")
			p := b.Post("/auth/callback/passkey", url.Values{"action": {action}, "data": {data}, "csrfToken": {b.CSRFToken()}})
			refused(t, b, p)
		}
	}
	s.holds(t, 0, 0)
}

// TestAttestation: the site's own judgement of the maker counts.
func TestAttestation(t *testing.T) {
	var seen []webauthn.Attestation
	s := newSite(t, func(_ *latchkey.Config, p *latchkey.WebAuthn) {
		p.Ceremony = webauthn.Ceremony{CheckAttestation: func(_ context.Context, a webauthn.Attestation) error {
			seen = append(seen, a)
			if len(a.Certificates) == 0 {
				return http.ErrNotSupported
			}
			return nil
		}}
		p.Registration.Attestation = "direct"
	})
	for kind, want := range map[string]string{"none": "none", "self": "basic_surrogate", "basic": "basic_full"} {
		t.Run(kind, func(t *testing.T) {
			seen = nil
			b, a := s.visit()
			a.AAGUID, a.Attestation = "d548826e-79b4-db40-a3d8-11116f7e8349", kind
			p := b.TryRegisterPasskey(a, kind+"@example.com")
			if (p.Error() == "") != (kind == "basic") {
				t.Errorf("%d, %v", p.Status, p.Location())
			}
			if len(seen) != 1 || seen[0].AAGUID != a.AAGUID || len(seen[0].ClientDataHash) != 32 || seen[0].Type != want {
				t.Errorf("judged %+v", seen)
			}
		})
	}
}

// name gives a user a name of their own.
func (s *site) name(t *testing.T, email, name string) {
	t.Helper()
	u, err := s.store.GetUserByEmail(t.Context(), email)
	if err == nil {
		_, err = s.store.UpdateUser(t.Context(), u.ID, storage.UserChange{Name: &name})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMadeUpAnswer: R-184. An answer without a proof, for an id that was listed,
// says the same of a real one and of a decoy.
func TestMadeUpAnswer(t *testing.T) {
	s := newSite(t, func(_ *latchkey.Config, p *latchkey.WebAuthn) { p.ListCredentials = passkey.ListDecoys })
	s.member("ada@example.com")
	var said []string
	for _, email := range []string{"ada@example.com", "bob@example.com"} {
		b, _ := s.visit()
		o, _ := ask(t, b, "?email="+email)
		client := b64([]byte(`{"type":"webauthn.get","challenge":"` + o.Options.Challenge + `","origin":"` + s.url + `"}`))
		data := `{"id":"` + o.Options.AllowCredentials[0].ID + `","response":{"clientDataJSON":"` + client + `"}}`
		form := url.Values{"action": {"authenticate"}, "data": {data}, "csrfToken": {b.CSRFToken()}}
		p := b.Fetch(http.MethodPost, "/auth/callback/passkey", []byte(form.Encode()), http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "X-Auth-Return-Redirect": {"1"},
		})
		said = append(said, fmt.Sprint(p.Status, string(p.Body)))
	}
	if said[0] != said[1] {
		t.Error(said)
	}
}

// TestSiblingPost: R-122. A page of a sibling host posts nobody in.
func TestSiblingPost(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.member("ada@example.com")
	for from, signsIn := range map[string]bool{"same-site": false, "same-origin": true} {
		options := b.PasskeyOptions(a, "authenticate", "")
		form := url.Values{"action": {"authenticate"}, "data": {string(must(a.Get(options.Body)))}}
		p := b.Fetch(http.MethodPost, "/auth/callback/passkey", []byte(form.Encode()), http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {from},
		})
		if in := b.Session() != nil; in != signsIn {
			t.Errorf("%s: signed in is %v: %d %s", from, in, p.Status, p.Body)
		}
		b, _ = s.visit()
	}
}

// TestMostPasskeys: options list all passkeys of a user, so there is an end to them.
func TestMostPasskeys(t *testing.T) {
	s := newSite(t, nil)
	b, a := s.visit()
	b.RegisterPasskey(a, "ada@example.com")
	owner := s.store.Contents().Authenticators[0]
	for i := range 64 {
		k := owner
		k.CredentialID = []byte(fmt.Sprint("one more passkey ", i))
		if err := s.store.CreateAuthenticator(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if p := b.Get("/auth/webauthn-options/passkey?action=register"); p.Status != http.StatusBadRequest || !strings.Contains(string(p.Body), "Too many passkeys") {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}
