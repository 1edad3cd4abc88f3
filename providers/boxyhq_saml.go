package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// BoxyHQSAML signs in through a SAML identity provider behind BoxyHQ, which is now
// Ory Polis. Its profile is a [profile.BoxyHQSAML].
//
// Issuer is the URL of the service. If Issuer is empty, AUTH_BOXYHQ_SAML_ISSUER is
// used. The parameters tenant and product name the customer's identity provider. Send
// them with each sign-in, or set them in Authorization.Params. Client id and secret are
// then "dummy". Whether e-mails are proven is for that identity provider to say. See
// https://boxyhq.com/docs/jackson/saml-flow.
func BoxyHQSAML(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "boxyhq-saml",
		Name:          "BoxyHQ SAML",
		Derive:        below("/api/oauth/authorize", "/api/oauth/token", "/api/oauth/userinfo"),
		Authorization: latchkey.Endpoint{Params: url.Values{"provider": {"saml"}}},
		Scopes:        []string{}, // openid would begin another flow
		Identify:      fields{subject: "id", name: "firstName+lastName", email: "email", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#25c2a0"},
	})
}
