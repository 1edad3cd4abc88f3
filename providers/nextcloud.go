package providers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Nextcloud signs in with an account at a Nextcloud server. Its profile is a
// [profile.Nextcloud].
//
// Issuer, or AUTH_NEXTCLOUD_ISSUER, is the URL of the server. Its administrator
// adds the client under Administration settings, Security, with a redirection
// URI that ends in /callback/nextcloud. Nextcloud has no scopes: a token can do
// whatever the person can.
//
// People can enter any e-mail in their settings, so none counts as proven.
//
// See https://docs.nextcloud.com/server/latest/admin_manual/configuration_server/oauth2.html.
func Nextcloud(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "nextcloud",
		Name:       "Nextcloud",
		Derive:     deriveNextcloud,
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#0082c9", Mark: markNextcloud},
	})
}

// deriveNextcloud sets the endpoints by the issuer, and FetchProfile and Identify unless
// they are set.
func deriveNextcloud(p *latchkey.OAuth) error {
	err := below("/apps/oauth2/authorize", "/apps/oauth2/api/v1/token", "/ocs/v1.php/cloud/users")(p)
	fetching(p, fetchNextcloud)
	if p.Identify == nil {
		p.Identify = identifyNextcloud(strings.TrimRight(p.Issuer, "/"))
	}
	return err
}

// fetchNextcloud returns the profile of the person that the token answer names.
func fetchNextcloud(ctx context.Context, a api) (latchkey.Claims, error) {
	id, _ := a.tokens.Extra["user_id"].(string)
	if id == "" {
		return nil, errors.New("providers: the token answer has no user_id")
	}
	req, err := a.request(ctx, http.MethodGet, a.user.URL+"/"+url.PathEscape(id), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("OCS-APIRequest", "true") // without it Nextcloud suspects a forged request
	answer, err := a.object(req)
	return member(answer, "ocs", "data"), err
}

// identifyNextcloud returns an Identify function for the Nextcloud at site, which has
// the picture of each user below /avatar. It takes an e-mail address as unproven.
func identifyNextcloud(site string) func(latchkey.Grant) (latchkey.Identity, error) {
	return func(g latchkey.Grant) (latchkey.Identity, error) {
		who, err := fields{subject: "id", name: "displayname", email: "email", trust: latchkey.EmailUnproven}.identify(g)
		if who.Subject != "" {
			who.Image = site + "/avatar/" + url.PathEscape(who.Subject) + "/512"
		}
		return who, err
	}
}
