package providers

import "github.com/latchkeyhq/latchkey"

// ClickUp signs in with a ClickUp account. Its profile is a [profile.ClickUp].
//
// An application has no scopes: the person chooses the workspaces that it gets, and
// tokens do not expire. ClickUp does not say whether the e-mail was proven. See
// https://developer.clickup.com/docs/authentication.
func ClickUp(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairClickUp}.of(p).Or(latchkey.OAuth{
		ID:            "click-up",
		Name:          "ClickUp",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://app.clickup.com/api"},
		Token:         latchkey.Endpoint{URL: "https://api.clickup.com/api/v2/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.clickup.com/api/v2/user"},
		Scopes:        []string{},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Identify:      fields{subject: "user.id", name: "user.username", email: "user.email", image: "user.profilePicture"}.identify,
		Style:         latchkey.Style{Color: "#7b68ee", Mark: markClickUp},
	})
}

// repairClickUp turns an error of ClickUp, which has an ECODE, into one of OAuth, and
// adds the type of the token, which ClickUp leaves out.
func repairClickUp(c latchkey.Claims) latchkey.Claims {
	if code := c.String("ECODE"); code != "" {
		return fault(code, c.String("err"))
	}
	return asBearer(c)
}
