package providers

import "github.com/latchkeyhq/latchkey"

// CloudFoundry signs in with a user of a Cloud Foundry UAA server. Its profile is a
// [profile.CloudFoundry].
//
// Issuer is the URL of the UAA. If Issuer is empty, AUTH_CLOUDFOUNDRY_ISSUER is used.
// The client needs the authority openid. Whether e-mails are proven is for the
// server's operator to say. See https://docs.cloudfoundry.org/api/uaa/.
func CloudFoundry(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "cloudfoundry",
		Name:     "Cloud Foundry",
		Derive:   below("/oauth/authorize", "/oauth/token", "/userinfo"),
		Scopes:   []string{"openid"},
		Identify: fields{subject: "user_id", name: "name", email: "email", noImage: true}.identify,
		Style:    latchkey.Style{Color: "#0095d3", Mark: markCloudFoundry},
	})
}
