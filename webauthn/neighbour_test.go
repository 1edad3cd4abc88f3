package webauthn_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// news is what password managers are told.
type news struct {
	RPID         string `json:"rpId"`
	CredentialID string
	UserID       string
	Accepted     []string `json:"allAcceptedCredentialIds"`
}

// signals asks a site for news; the zero value: there are none.
func signals(t *testing.T, b *latchkeytest.Client) (told news) {
	t.Helper()
	page := b.Get("/auth/webauthn-options/passkey?action=signals")
	var answer struct{ Options *news }
	if err := json.Unmarshal(page.Body, &answer); err != nil || page.Status != http.StatusOK {
		t.Fatalf("signals: %d %s", page.Status, page.Body)
	}
	if answer.Options != nil {
		told = *answer.Options
	}
	return told
}

// names reports whether a password manager that is told this loses passkeys of the
// authenticator.
func (n *news) names(a *latchkeytest.Authenticator) bool {
	for _, k := range a.Passkeys() {
		accepted := strings.Contains(strings.Join(n.Accepted, " "), b64(k.ID))
		if n.CredentialID == b64(k.ID) || n.UserID == b64(k.UserHandle) && !accepted {
			return true
		}
	}
	return false
}

// byScript posts an answer as the browser client does, and returns the URL that it
// is told.
func byScript(t *testing.T, b *latchkeytest.Client, action string, data []byte) *url.URL {
	t.Helper()
	form := url.Values{"action": {action}, "data": {string(data)}, "csrfToken": {b.CSRFToken()}}
	p := b.Fetch(http.MethodPost, "/auth/callback/passkey", []byte(form.Encode()), http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "X-Auth-Return-Redirect": {"1"},
	})
	var told struct{ URL string }
	if err := json.Unmarshal(p.Body, &told); err != nil {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	return must(url.Parse(told.URL))
}

// TestNeighbours: R-525. Two sites of one relying party are in one browser, with one
// secret, as on two ports of a developer's machine, at two paths, or for two tenants
// of one host. Whatever a user does at one with a passkey of the other, no
// password manager is told to forget it. Without the comparison of user handles it
// finds passkeys lost that are chosen on a page, that are chosen by a script, and of a
// copied store; without the look at whether a removal has happened, one that a stale
// page removes.
func TestNeighbours(t *testing.T) {
	now := time.Now()
	for _, row := range []struct {
		name string
		do   func(t *testing.T, here *site, b *latchkeytest.Client, foreign *latchkeytest.Authenticator) news
	}{
		{"it is chosen for a sign-in on a page", func(t *testing.T, here *site, b *latchkeytest.Client, foreign *latchkeytest.Authenticator) news {
			p := b.TryPasskey(foreign, "")
			refused(t, b, p)
			b.Follow(p)
			return signals(t, b)
		}},
		{"it is chosen for a sign-in by a script", func(t *testing.T, here *site, b *latchkeytest.Client, foreign *latchkeytest.Authenticator) news {
			_, raw := ask(t, b, "?action=authenticate")
			if to := byScript(t, b, "authenticate", must(foreign.Get(raw))); to.Query().Get("code") != "unknown_credential" {
				t.Errorf("the script is told %s", to)
			}
			return signals(t, b)
		}},
		{"a member removes it", func(t *testing.T, here *site, b *latchkeytest.Client, foreign *latchkeytest.Authenticator) news {
			own := latchkeytest.NewAuthenticator(here.url)
			b.RegisterPasskey(own, "ada@example.com")
			change(t, b, "remove", url.Values{"passkey": {b64(foreign.Passkeys()[0].ID)}})
			told := signals(t, b)
			if told.UserID == "" || told.names(own) {
				t.Errorf("of the own passkey the browser is told %+v", told)
			}
			return told
		}},
		{"its user handle came along with a copied store", func(t *testing.T, here *site, b *latchkeytest.Client, foreign *latchkeytest.Authenticator) news {
			own := latchkeytest.NewAuthenticator(here.url)
			b.RegisterPasskey(own, "ada@example.com")
			row := here.store.Contents().Authenticators[0]
			row.UserHandle = foreign.Passkeys()[0].UserHandle
			must(0, here.store.DeleteAuthenticator(t.Context(), row.CredentialID))
			must(0, here.store.CreateAuthenticator(t.Context(), row))
			if told := signals(t, b); told.UserID != "" {
				t.Errorf("told of the copied handle: %+v", told)
			}
			here.add(t, b, "/")
			change(t, b, "remove", url.Values{"passkey": {b64(row.CredentialID)}})
			if told := signals(t, b); told.CredentialID != "" {
				t.Errorf("told that a copied passkey is gone: %+v", told)
			}
			return signals(t, b)
		}},
	} {
		t.Run("R-525 "+row.name, func(t *testing.T) {
			shop, other := newSite(t, settings(&now)), newSite(t, settings(&now))
			_, foreign := shop.member("ada@example.com")
			b, _ := other.visit()
			foreign.Origin = other.url
			if told := row.do(t, other, b, foreign); told.names(foreign) {
				t.Errorf("the neighbour's passkey is lost: %+v", told)
			}
			b, _ = shop.visit()
			foreign.Origin = shop.url
			b.SignInByPasskey(foreign, "")
		})
	}
}

// TestForgotten: R-525. A passkey that the site has made and removed is told, once,
// to the browser that has just used or removed it. If a removal that did not happen
// counts, it finds that the browser is told of one from a stale tab.
func TestForgotten(t *testing.T) {
	now := time.Now()
	s := newSite(t, settings(&now))
	ada, lost := s.visit()
	ada.RegisterPasskey(lost, "ada@example.com")
	s.add(t, ada, "/")
	id := b64(lost.Passkeys()[0].ID)

	form := url.Values{"passkey": {id}, "csrfToken": {ada.CSRFToken()}}
	ada.Follow(ada.Post("/auth/account?do=remove", form))
	if told := signals(t, ada); told.CredentialID != id {
		t.Errorf("after it was removed: %+v", told)
	}
	if again := signals(t, ada); again.CredentialID != "" {
		t.Errorf("a second time: %+v", again)
	}
	ada.Follow(ada.Post("/auth/account?do=remove", form)) // in a tab that still shows it
	if told := signals(t, ada); told.CredentialID != "" {
		t.Errorf("R-525 a removal that did not happen is told: %+v", told)
	}

	page, _ := s.visit()
	p := page.TryPasskey(lost, "")
	if shown := page.Follow(p); !strings.Contains(string(shown.Body), "data-latchkey-passkeys") {
		t.Errorf("the page does not ask for news: %s", shown.Body)
	}
	if told := signals(t, page); told.CredentialID != id || told.UserID != "" {
		t.Errorf("after a sign-in on a page: %+v", told)
	}
	script, _ := s.visit()
	_, raw := ask(t, script, "?action=authenticate")
	byScript(t, script, "authenticate", must(lost.Get(raw)))
	if told := signals(t, script); told.CredentialID != id {
		t.Errorf("after a sign-in by a script: %+v", told)
	}
}
