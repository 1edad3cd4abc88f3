package latchkeytest

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// RegisterPasskey makes a passkey with a, for the signed-in user, or else for a new
// user with that e-mail address, and returns the answer of the callback. The test
// ends unless it was registered and a user is signed in; [Client.TryRegisterPasskey]
// is for what must be refused.
func (c *Client) RegisterPasskey(a *Authenticator, email string) *Page {
	c.t.Helper()
	return c.mustBeIn(c.mustSucceed(c.TryRegisterPasskey(a, email)))
}

// TryRegisterPasskey registers as RegisterPasskey does, and returns the answer of the
// callback whatever it says. If the site refuses an earlier step, it returns that answer.
// The test ends if a refuses.
func (c *Client) TryRegisterPasskey(a *Authenticator, email string) *Page {
	c.t.Helper()
	return c.present(a, "register", email, a.Create)
}

// SignInByPasskey signs in with a passkey of a and returns the answer of the
// callback. email is what was typed before; empty: nothing, as where the browser
// offers its passkeys. The test ends unless a user is signed in afterwards;
// [Client.TryPasskey] is for sign-ins that must be refused.
func (c *Client) SignInByPasskey(a *Authenticator, email string) *Page {
	c.t.Helper()
	return c.mustBeIn(c.mustSucceed(c.TryPasskey(a, email)))
}

// TryPasskey signs in as SignInByPasskey does, and returns the answer of the callback or
// of an earlier step that the site refuses. The test ends if a refuses.
func (c *Client) TryPasskey(a *Authenticator, email string) *Page {
	c.t.Helper()
	return c.present(a, "authenticate", email, a.Get)
}

// present runs a whole ceremony: it fetches the options, answers them by answer, and
// posts the result to the callback.
func (c *Client) present(a *Authenticator, action, email string, answer func(options []byte) ([]byte, error)) *Page {
	c.t.Helper()
	options := c.PasskeyOptions(a, action, email)
	if options.Status != http.StatusOK {
		return options
	}
	credential, err := answer(options.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.PostPasskey(a, credential)
}

// PasskeyOptions asks the site for the options of a ceremony, the first step of
// RegisterPasskey and SignInByPasskey. action is "register" or "authenticate". If it is
// empty, the site chooses. email is left out if it is empty.
func (c *Client) PasskeyOptions(a *Authenticator, action, email string) *Page {
	c.t.Helper()
	query := url.Values{}
	if action != "" {
		query.Set("action", action)
	}
	if email != "" {
		query.Set("email", email)
	}
	return c.Get(c.BasePath + "/webauthn-options/" + url.PathEscape(a.provider()) + "?" + query.Encode())
}

// PostPasskey posts what an authenticator made to the callback, and returns the answer. It
// is the last step of RegisterPasskey and SignInByPasskey.
func (c *Client) PostPasskey(a *Authenticator, credential []byte) *Page {
	c.t.Helper()
	return c.Post(c.BasePath+"/callback/"+url.PathEscape(a.provider()), url.Values{
		"csrfToken": {c.CSRFToken()}, "callbackUrl": {c.URL + "/"},
		"action": {actionOf(credential)}, "data": {string(credential)},
	})
}

// actionOf returns "register" for a credential with an attestation, which only new ones
// have, and "authenticate" for any other.
func actionOf(credential []byte) string {
	var members struct {
		Response map[string]any `json:"response"`
	}
	if json.Unmarshal(credential, &members) == nil && members.Response["signature"] == nil && members.Response["attestationObject"] != nil {
		return "register"
	}
	return "authenticate"
}

// mustSucceed ends the test if p says that something was refused.
func (c *Client) mustSucceed(p *Page) *Page {
	c.t.Helper()
	if p.Status >= http.StatusBadRequest || p.Error() != "" {
		c.t.Fatalf("latchkeytest: the passkey was refused: %s", p.Describe())
	}
	return p
}
