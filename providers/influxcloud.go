package providers

import "github.com/latchkeyhq/latchkey"

// InfluxCloud signs in with an account of InfluxDB Cloud 1, which takes no new
// customers. Its profile is an [profile.InfluxCloud].
//
// Issuer is the URL of the server. If Issuer is empty, AUTH_INFLUXCLOUD_ISSUER is
// used, or else https://cloud.influxdata.com. Whether e-mails are proven is not said.
func InfluxCloud(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "influxcloud",
		Name:       "InfluxCloud",
		ClientAuth: latchkey.ClientSecretPost,
		Issuer:     "https://cloud.influxdata.com",
		Derive:     deriveInfluxCloud,
		Scopes:     []string{},
		Identify:   fields{subject: "id", name: "name", email: "email", image: "avatar_url"}.identify,
		Style:      latchkey.Style{Color: "#22adf6", Mark: markInfluxCloud},
	})
}

// deriveInfluxCloud sets the endpoints by the issuer and, unless it is set, a
// FetchProfile that sends the access token in the URL.
func deriveInfluxCloud(p *latchkey.OAuth) error {
	err := below("/oauth/authorize", "/oauth/token", "/api/v1/user")(p)
	fetching(p, tokenInQuery("access_token"))
	return err
}
