package providers

import "github.com/latchkeyhq/latchkey"

// HuggingFace signs in with a Hugging Face account. Its profile is a
// [profile.HuggingFace].
//
// The scopes have to be switched on for the application. The claim email_verified
// says whether the e-mail was proven. See https://huggingface.co/docs/hub/oauth.
func HuggingFace(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "huggingface",
		Name:   "Hugging Face",
		OIDC:   true,
		Issuer: "https://huggingface.co",
		Checks: []latchkey.Check{latchkey.CheckState, latchkey.CheckPKCE},
		Style:  latchkey.Style{Color: "#ff9d00"},
	})
}
