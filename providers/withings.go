package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Withings signs in with a Withings account. Its profile is a [profile.Withings],
// which is the id in the token answer: there is no name, e-mail or picture.
//
// Make an application of the public API at https://developer.withings.com/dashboard,
// with a callback URL that ends in /callback/withings. Codes live for 30 seconds, and
// tokens for three hours.
//
// See https://developer.withings.com/developer-guide/v3/integration-guide/public-health-data-api/get-access/oauth-web-flow.
func Withings(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(dialect{ask: askWithings, answer: repairWithings}.of(p).Or(latchkey.OAuth{
		ID:             "withings",
		Name:           "Withings",
		Authorization:  latchkey.Endpoint{URL: "https://account.withings.com/oauth2_user/authorize2"},
		Token:          latchkey.Endpoint{URL: "https://wbsapi.withings.net/v2/oauth2"},
		ClientAuth:     latchkey.ClientSecretPost,
		Checks:         []latchkey.Check{latchkey.CheckState},
		Scopes:         []string{"user.info"},
		ScopeSeparator: ",",
		Identify:       fields{subject: "userid", noImage: true, trust: latchkey.EmailUnproven}.identify,
		EmailTrust:     latchkey.EmailUnproven,
		Style:          latchkey.Style{Color: "#121212"},
	}), func(_ context.Context, a api) (latchkey.Claims, error) {
		return latchkey.Claims{"userid": a.tokens.Extra["userid"]}, nil
	})
}

// askWithings adds the parameter action, which Withings needs, to the form.
func askWithings(r *http.Request, form url.Values) {
	form.Set("action", "requesttoken")
	setBody(r, "application/x-www-form-urlencoded", []byte(form.Encode()))
}

// repairWithings takes an answer out of its envelope, and turns an error, which is a
// number with status 200, into one of OAuth.
func repairWithings(c latchkey.Claims) latchkey.Claims {
	if status := c.String("status"); status != "0" {
		return fault("withings_"+status, c.String("error"))
	}
	return asBearer(member(c, "body"))
}
