package interop

import (
	"crypto"
	"maps"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkeyhq/latchkey"
)

// certifiedClients are the clients of openid/provider.mjs: every way to prove
// oneself, every way back, and every signature that it offers.
func certifiedClients(t *testing.T) []client {
	const fromToken, fromUserInfo = "ada by id_token", "ada by userinfo"
	auth := func(method latchkey.ClientAuth) func(*latchkey.OAuth) {
		return func(p *latchkey.OAuth) { p.ClientAuth = method }
	}
	signing := func(key crypto.Signer, alg string) func(*latchkey.OAuth) {
		return func(p *latchkey.OAuth) {
			p.ClientAuth, p.ClientSecret = latchkey.PrivateKeyJWT, ""
			p.SigningKey = latchkey.SigningKey{Key: key, KeyID: "mine", Algorithm: alg}
		}
	}
	registered := func(key crypto.Signer) object {
		public := jose.JSONWebKey{Key: key.Public(), KeyID: "mine", Use: "sig"}
		return object{"token_endpoint_auth_method": "private_key_jwt", "jwks": object{"keys": []any{public}}}
	}
	userInfo := func(p *latchkey.OAuth) { p.ProfileFromUserInfo = true }
	rsa, ec, ed := rsaKey(t), ecKey(t), edKey(t)
	return []client{
		{id: "basic", name: "client_secret_basic", named: fromToken},
		{id: "post", name: "client_secret_post", set: auth(latchkey.ClientSecretPost), named: fromToken, register: object{"token_endpoint_auth_method": "client_secret_post"}},
		{id: "hmac", name: "client_secret_jwt", set: auth(latchkey.ClientSecretJWT), named: fromToken, register: object{"token_endpoint_auth_method": "client_secret_jwt"}},
		{id: "rsa", name: "private_key_jwt, RS256", set: signing(rsa, ""), named: fromToken, register: registered(rsa)},
		{id: "pss", name: "private_key_jwt, PS256", set: signing(rsa, "PS256"), named: fromToken, register: registered(rsa)},
		{id: "ec", name: "private_key_jwt, ES256", set: signing(ec, ""), named: fromToken, register: registered(ec)},
		{id: "ed", name: "private_key_jwt, EdDSA", set: signing(ed, ""), named: fromToken, register: registered(ed)},
		{id: "public", name: "none", set: auth(latchkey.ClientAuthNone), named: fromToken, register: object{"token_endpoint_auth_method": "none"}},
		{id: "posted", name: "form_post", set: func(p *latchkey.OAuth) { p.ResponseMode = "form_post" }, named: fromToken},
		{id: "info", name: "userinfo", set: userInfo, named: fromUserInfo},
		{id: "signedinfo", name: "signed userinfo", set: userInfo, named: fromUserInfo, register: object{"userinfo_signed_response_alg": "ES256"}},
		{id: "idps", name: "an ID token signed with PS256", named: fromToken, register: object{"id_token_signed_response_alg": "PS256"}},
		{id: "ides", name: "an ID token signed with ES256", named: fromToken, register: object{"id_token_signed_response_alg": "ES256"}},
		{id: "ided", name: "an ID token signed with EdDSA", named: fromToken, register: object{"id_token_signed_response_alg": "EdDSA"}},
		{id: "wrong", name: "a wrong secret", set: func(p *latchkey.OAuth) { p.ClientSecret += "!" }, refused: "Configuration"},
		{id: "wrongkey", name: "a wrong key", set: signing(ecKey(t), ""), register: registered(ec), refused: "Configuration"},
		{id: "unlisted", name: "an algorithm that is not accepted", set: func(p *latchkey.OAuth) { p.IDTokenAlgs = []string{"ES256"} }, refused: "Configuration"},
		{id: "plain", name: "as OAuth without OpenID", set: func(p *latchkey.OAuth) { p.OIDC = false }, named: fromUserInfo},
	}
}

// TestCertifiedProvider signs in at oidc-provider, which is certified by the
// OpenID Foundation.
func TestCertifiedProvider(t *testing.T) {
	clients, s := certifiedClients(t), newSite(t)
	var metadata []object
	for _, c := range clients {
		m := object{
			"client_id": c.id, "client_secret": secretOf(c.id), "redirect_uris": []string{s.callback(c)},
			"grant_types": []string{"authorization_code"}, "response_types": []string{"code"},
		}
		maps.Copy(m, c.register)
		metadata = append(metadata, m)
	}
	s.open(t, startPeer(t, "openid", "provider.mjs", string(asJSON(t, metadata))).url(), clients)

	types := map[string]string{"login": "ada", "password": "anything"}
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s.signIn(t, c, types, nil)
			if c.refused == "" {
				s.remembered(t, c, "ada", "ada@example.com")
			}
		})
	}
	t.Run("the person refuses", func(t *testing.T) {
		c := clients[0]
		c.refused = "OAuthCallbackError"
		s.signIn(t, c, types, func(p *person) { p.refuses = true })
	})
}
