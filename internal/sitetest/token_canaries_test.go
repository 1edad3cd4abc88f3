package sitetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestTokenCanaries shows that no token of a provider gets into a log, an error, an event,
// a page or the store, even if the provider repeats it in its errors (T-020).
func TestTokenCanaries(t *testing.T) {
	known, refresh := &canaries{}, ""
	s := newTokenSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	var shown []string
	show := func(values ...any) {
		for _, v := range values {
			for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
				shown = append(shown, fmt.Sprintf(format, v))
			}
		}
	}
	s.issuer.Misbehave(latchkeytest.Misbehaviour{Token: func(a map[string]any) {
		for _, name := range []string{"access_token", "refresh_token", "id_token"} {
			if text, ok := a[name].(string); ok {
				known.add(name, text)
			}
		}
		refresh, _ = a["refresh_token"].(string)
	}})
	s.mustSignIn(s.b)
	s.clock.Advance(2 * time.Hour)
	got, err := s.ask(latchkey.TokenOptions{})
	if err != nil || refresh == "" {
		t.Fatalf("%v", err)
	}
	show(got, s.row(t))
	talk, err := json.Marshal(map[string]string{"error": "invalid_request", "error_description": "I was given " + refresh + " and " + got.AccessToken})
	if err != nil {
		t.Fatal(err)
	}
	s.issuer.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{
		latchkeytest.PathToken: {Status: 400, Body: talk}, latchkeytest.PathRevocation: {Status: 400, Body: talk},
	}})
	s.clock.Advance(2 * time.Hour)
	_, err = s.ask(latchkey.TokenOptions{})
	if err == nil {
		t.Fatal("the talkative provider renewed")
	}
	show(err)
	list, err := s.auth.Users().Accounts(t.Context(), s.user)
	show(list, err)
	page := s.b.get("/auth/account").Body.String()
	rows := s.contents()
	if err := s.auth.Users().RevokeTokens(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}); err != nil {
		t.Fatal(err)
	}
	if e := s.told(event.TokenDisconnected, 1)[0]; e.Err == nil {
		t.Error("the failure of the revocation is not in the event")
	}
	s.mu.Lock()
	for _, e := range s.events {
		show(e, e.Err)
	}
	s.mu.Unlock()
	for _, text := range shown {
		known.none(t, "T-020 a value", text)
	}
	known.none(t, "T-020 the log", s.log.text())
	known.none(t, "T-020 the account page", page)
	known.none(t, "T-020 the store", rows)
}
