package providers

import "github.com/latchkeyhq/latchkey"

// Hydra signs in with a user of the login application behind an Ory Hydra server. Its
// profile is a [profile.Standard].
//
// Issuer is the URL of the server, as the server writes it in its tokens. If Issuer is
// empty, AUTH_HYDRA_ISSUER is used. What a token says of a person, and whether e-mails
// are proven, is for the consent application behind Hydra to say. See
// https://www.ory.com/docs/hydra.
func Hydra(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "hydra",
		Name:  "Hydra",
		OIDC:  true,
		Style: latchkey.Style{Color: "#5528ff", Mark: markHydra},
	})
}
