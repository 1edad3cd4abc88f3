package providers

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers/profile"
)

// Apple signs in with an Apple account. Its profile is a [profile.Apple].
//
// Apple wants a client secret that is signed anew every few months; see
// [NewAppleSecret]. The client id is the identifier of a Services ID. Apple
// refuses callback URLs on localhost and URLs without https.
//
// Apple answers with a form post from its own site, so that the cookies of the
// flow are SameSite=None, and gives the name of a person only the first time
// they consent, beside the ID token and unsigned. Later sign-ins fall back to
// the e-mail, which may be a relay of Apple's. There is never a picture.
//
// A refresh token always comes and does not expire; check it daily at most.
// /auth/revoke ends it, and Apple demands that when an account is deleted.
func Apple(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:           "apple",
		Name:         "Apple",
		OIDC:         true,
		Issuer:       "https://appleid.apple.com",
		ClientAuth:   latchkey.ClientSecretPost,
		Scopes:       []string{"name", "email"},
		ResponseMode: "form_post", // Apple demands it with these scopes
		Checks:       []latchkey.Check{latchkey.CheckNonce, latchkey.CheckState},
		Identify:     identifyApple,
		EmailTrust:   latchkey.EmailProven,
		Refresh:      latchkey.Refresh{AskScopes: []string{}}, // there is always one
		Style:        latchkey.Style{Color: "#000"},
	})
}

// identifyApple returns the person. The name is that of appleName, or else the e-mail.
func identifyApple(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	email := m.text("email")
	name := appleName(g.Params)
	if name == "" {
		name = email
	}
	return m.identity(latchkey.Identity{
		Subject:      m.id("sub"),
		Name:         name,
		Email:        email,
		EmailTrust:   appleEmailTrust(g.Profile),
		WithoutImage: true,
	})
}

// appleEmailTrust returns whether Apple calls the e-mail verified. Apple writes the
// boolean as text at times.
func appleEmailTrust(c latchkey.Claims) latchkey.EmailTrust {
	if c.Bool("email_verified") {
		return latchkey.EmailProven
	}
	return latchkey.EmailUnproven
}

// appleName returns the name in the form field user, or "". The browser brought the field
// and could have made it up, so only the name is taken, and a malformed field counts as
// none.
func appleName(params url.Values) string {
	var user profile.AppleUser
	if json.Unmarshal([]byte(params.Get("user")), &user) != nil {
		return ""
	}
	return strings.TrimSpace(user.Name.FirstName + " " + user.Name.LastName)
}
