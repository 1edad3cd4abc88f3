package latchkeytest

import (
	"crypto/rand"
	"net/url"
	"testing"
	"time"
)

// logoutEvent is the member of events that makes a token a logout token.
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// LogoutToken returns a signed logout token (OpenID Connect Back-Channel Logout 1.0,
// section 2.4) for the client, issued now and good for two minutes. Each change is applied
// to its claims first: a claim of nil is left out. Without a change it names no session,
// so give it a sub or a sid.
func (iss *Issuer) LogoutToken(t testing.TB, change ...func(claims map[string]any)) string {
	t.Helper()
	now := iss.config.Time()
	claims := map[string]any{
		"iss": iss.URL, "aud": iss.config.ClientID, "iat": now.Unix(), "exp": now.Add(2 * time.Minute).Unix(), "jti": rand.Text(),
		"events": map[string]any{logoutEvent: map[string]any{}},
	}
	for _, f := range change {
		f(claims)
	}
	for name, value := range claims {
		if value == nil {
			delete(claims, name)
		}
	}
	token, err := iss.sign(iss.misbehaviour(), claims)
	if err != nil {
		t.Fatal("latchkeytest: signing a logout token: ", err)
	}
	return token
}

// LogoutForm returns the form in which a provider posts a logout token to
// {base}/backchannel-logout/{id}.
func LogoutForm(token string) url.Values { return url.Values{"logout_token": {token}} }
