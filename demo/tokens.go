package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// The page of provider tokens: a call of the provider's API in the name of the signed-in
// user, a form that asks for one more scope, one that lets the tokens go, and a sign-out
// that goes on to the provider.

// connected sets p to keep tokens, and to end sessions that the provider ends; it returns p.
func connected(p *latchkey.OAuth) *latchkey.OAuth {
	p.Offline, p.Logout = true, latchkey.Logout{BackChannel: true}
	return p
}

// addTokens says where the page and its forms are.
func (d *site) addTokens(mux *http.ServeMux) {
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET /tokens": d.tokens, "POST /tokens/more": d.connectMore, "POST /tokens/off": d.disconnect, "POST /tokens/out": d.leaveProvider,
	} {
		mux.Handle(pattern, d.auth.RequireSession(handle))
	}
}

// tokens shows what the API of the provider says of the user.
func (d *site) tokens(w http.ResponseWriter, r *http.Request) {
	var content struct{ Answer, Problem, Scope string }
	content.Answer, content.Scope, content.Problem = d.askProvider(r)
	d.show(w, r, http.StatusOK, "tokens", "Provider tokens", content)
}

// mostOfAnswer bounds what is read of an answer of the API.
const mostOfAnswer = 64 << 10

// askProvider returns what the API says of the signed-in user, or a problem to show them.
func (d *site) askProvider(r *http.Request) (answer, scope, problem string) {
	of := latchkey.AccountRef{UserID: latchkey.SessionFrom(r.Context()).UserID, Provider: "demo"}
	token, err := d.auth.Users().AccessToken(r.Context(), of, latchkey.TokenOptions{})
	switch {
	case errors.Is(err, latchkey.ErrNotFound):
		return "", "", "You have not signed in with Demo ID yet."
	case errors.Is(err, latchkey.ErrReconnect):
		return "", "", "The site has no tokens of yours: connect it again."
	case err != nil:
		d.log.Error("no token for the API", "error", err)
		return "", "", "The provider cannot be asked at the moment."
	}
	res, err := d.auth.Users().ProviderClient(r.Context(), of, latchkey.TokenOptions{}).Get(d.issuer + latchkeytest.PathUserInfo)
	if err != nil {
		d.log.Error("the API does not answer", "error", err)
		return "", token.Scope, "The provider cannot be asked at the moment."
	}
	defer func() { _ = res.Body.Close() }()
	var said map[string]any
	if err := json.NewDecoder(io.LimitReader(res.Body, mostOfAnswer)).Decode(&said); err != nil {
		return "", token.Scope, "The provider answers with " + res.Status + "."
	}
	text, err := json.MarshalIndent(said, "", "  ")
	if err != nil {
		return "", token.Scope, "The answer of the provider cannot be shown."
	}
	return string(text), token.Scope, ""
}

// connectMore asks the user for one more scope. It connects the account again, if that was
// let go.
func (d *site) connectMore(w http.ResponseWriter, r *http.Request) {
	o := latchkey.LinkOptions{SignInOptions: latchkey.SignInOptions{RedirectTo: "/tokens", Scopes: []string{"address"}}}
	if err := d.auth.Link(w, r, "demo", o); err != nil {
		d.fail(w, r, err)
	}
}

// disconnect revokes the tokens. The account stays a way to sign in.
func (d *site) disconnect(w http.ResponseWriter, r *http.Request) {
	if err := d.auth.CheckCSRF(r); err != nil {
		http.Error(w, "Please use the form of this site.", http.StatusForbidden)
		return
	}
	of := latchkey.AccountRef{UserID: latchkey.SessionFrom(r.Context()).UserID, Provider: "demo"}
	if err := d.auth.Users().RevokeTokens(r.Context(), of); err != nil && !errors.Is(err, latchkey.ErrNotFound) {
		d.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/tokens", http.StatusSeeOther)
}

// leaveProvider signs out here and at the provider.
func (d *site) leaveProvider(w http.ResponseWriter, r *http.Request) {
	if err := d.auth.SignOut(w, r, latchkey.SignOutOptions{RedirectTo: "/", AtProvider: new(true)}); err != nil {
		d.fail(w, r, err)
	}
}
