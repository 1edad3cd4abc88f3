package interop

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// keySetRows are an issuer and what a provider object with all endpoints says of its keys.
// The three sites are Auth.js, which declares jwks_endpoint and never reads it, NextAuth
// v4, and ours.
var keySetRows = []struct {
	name      string
	keys      string // jwks_endpoint and JWKS, a path of the issuer; empty: left out
	bad       latchkeytest.Misbehaviour
	in        [3]bool // who lets the user in
	asksKeys  [3]bool // who asks the issuer for its keys
	discovers [3]bool // who reads the discovery document
}{
	{name: "named", keys: latchkeytest.PathJWKS, bad: undiscovered, in: [3]bool{true, true, true}, asksKeys: [3]bool{false, true, true}},
	{
		name: "named, a false signature", keys: latchkeytest.PathJWKS, bad: latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherKey},
		in: [3]bool{true, false, false}, asksKeys: [3]bool{false, true, true},
	},
	{name: "a wrong address", keys: "/nothing", in: [3]bool{true, false, false}},
	{name: "left out", in: [3]bool{true, false, true}, asksKeys: [3]bool{false, false, true}, discovers: [3]bool{false, false, true}},
	{name: "left out, without a discovery document", bad: undiscovered, in: [3]bool{true, false, false}, discovers: [3]bool{false, false, true}},
}

var undiscovered = latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathDiscovery: {Status: http.StatusNotFound}}}

// TestKeySetOfAProvider is R-827: JWKS is what jwks_endpoint is in NextAuth v4, with or
// without a discovery document. In Auth.js v5 the field does nothing: that checks no
// signature, so a provider object that works there may need JWKS here.
func TestKeySetOfAProvider(t *testing.T) {
	for _, row := range keySetRows {
		t.Run("R-827 "+row.name, func(t *testing.T) {
			for site, start := range []func(*testing.T, *latchkeytest.Issuer, string) *browser{atAuthJS, atNextAuth4, atOurs} {
				t.Run([]string{"Auth.js", "NextAuth v4", "Latchkey"}[site], func(t *testing.T) {
					iss := latchkeytest.NewIssuer(t)
					iss.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
					iss.Misbehave(row.bad)
					b := start(t, iss, row.keys)
					p := b.TrySignIn(iss)
					var session struct{ User struct{ Name string } }
					ok(t, json.Unmarshal(b.Get(b.BasePath+"/session").Body, &session))
					if in := session.User.Name == "Ada"; in != row.in[site] {
						t.Errorf("signed in: %t, and the answer is %s", in, p.Describe())
					}
					if asked := iss.Count(latchkeytest.PathJWKS) > 0; asked != row.asksKeys[site] {
						t.Errorf("the keys were asked for: %t", asked)
					}
					if asked := iss.Count(latchkeytest.PathDiscovery) > 0; asked != row.discovers[site] {
						t.Errorf("the discovery document was asked for: %t", asked)
					}
				})
			}
		})
	}
}

// endpointsOf are fields of a provider object that leave nothing to discovery but the keys.
func endpointsOf(iss *latchkeytest.Issuer, keys string) object {
	fields := object{
		"authorization": object{"url": iss.URL + latchkeytest.PathAuthorize, "params": object{"scope": "openid profile email"}},
		"token":         iss.URL + latchkeytest.PathToken, "userinfo": iss.URL + latchkeytest.PathUserInfo,
	}
	if keys != "" {
		fields["jwks_endpoint"] = iss.URL + keys
	}
	return fields
}

func atAuthJS(t *testing.T, iss *latchkeytest.Issuer, keys string) *browser {
	_, issuer := atIssuer(iss)
	issuer.Fields = endpointsOf(iss, keys)
	return &browser{latchkeytest.NewClientAt(t, theirSite{Secrets: []string{newSecret}, Issuer: issuer}.start(t)), t, false}
}

func atNextAuth4(t *testing.T, iss *latchkeytest.Issuer, keys string) *browser {
	p := endpointsOf(iss, keys)
	ours, issuer := atIssuer(iss)
	p["id"], p["name"], p["type"], p["idToken"] = ours.ID, ours.Name, "oauth", true
	p["issuer"], p["clientId"], p["clientSecret"], p["checks"] = issuer.URL, issuer.ID, issuer.Secret, []string{"pkce", "state", "nonce"}
	folder := filepath.Join("..", "..", "adapters", "sqladapter", "test", "nextauth4")
	b := &browser{latchkeytest.NewClientAt(t, startPeer(t, folder, "site.mjs", string(asJSON(t, object{"secret": newSecret, "provider": p}))).url()), t, false}
	b.BasePath = "/api/auth"
	return b
}

func atOurs(t *testing.T, iss *latchkeytest.Issuer, keys string) *browser {
	p, _ := atIssuer(iss)
	p.Authorization.URL, p.Token.URL, p.UserInfo.URL = iss.URL+latchkeytest.PathAuthorize, iss.URL+latchkeytest.PathToken, iss.URL+latchkeytest.PathUserInfo
	if keys != "" {
		p.JWKS = iss.URL + keys
	}
	return &browser{latchkeytest.NewClient(t, newAuth(t, latchkey.Config{Providers: []latchkey.Provider{p}})), t, false}
}
