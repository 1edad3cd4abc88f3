package providers

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// GitHub signs in with an OAuth app of github.com. Its profile is a
// [profile.GitHub].
//
// If the profile has no public e-mail, a second call, which needs the scope user:email, asks
// for the private ones. It takes only one that GitHub has verified, and adds email_verified
// to the profile, or else the person has no e-mail. A public e-mail does not count as proven.
//
// The token of an OAuth app does not expire unless that is switched on; that of a
// GitHub App lives for eight hours, and its refresh token works once. DELETE
// /applications/{id}/grant ends the grant.
func GitHub(p latchkey.OAuth) *latchkey.OAuth {
	p.EmailTrust = cmp.Or(p.EmailTrust, latchkey.EmailProven)
	return gitHub(p, "https://github.com", "https://api.github.com")
}

// GitHubEnterprise signs in as [GitHub] does, at a GitHub Enterprise Server at baseURL,
// such as "https://git.example.com". A site that has both gives one of them an ID of
// its own. A private e-mail that the server calls verified counts as proven, unless
// EmailTrust is [latchkey.EmailUnproven]. That is the word of the server's operator.
func GitHubEnterprise(baseURL string, p latchkey.OAuth) *latchkey.OAuth {
	baseURL = strings.TrimRight(baseURL, "/")
	p.Issuer = cmp.Or(p.Issuer, gitHubIssuer(baseURL)) // wins over AUTH_<ID>_ISSUER
	return gitHub(p, baseURL, baseURL+"/api/v3")
}

// gitHub returns the provider for the GitHub whose pages are at site and whose API is at
// api.
func gitHub(p latchkey.OAuth, site, api string) *latchkey.OAuth {
	return revoking(fetching(p.Or(latchkey.OAuth{
		ID:            "github",
		Name:          "GitHub",
		Issuer:        gitHubIssuer(site), // GitHub names itself in the callback (RFC 9207)
		Authorization: latchkey.Endpoint{URL: site + "/login/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: site + "/login/oauth/access_token"},
		UserInfo:      latchkey.Endpoint{URL: api + "/user"},
		Scopes:        []string{"read:user", "user:email"},
		Identify:      fields{subject: "id", name: "name|login", email: "email", image: "avatar_url"}.identify,
		Refresh:       latchkey.Refresh{Refused: []string{"bad_refresh_token"}},
		Style:         latchkey.Style{Color: "#24292f"},
	}), fetchGitHub), revokeGitHub(api))
}

// revokeGitHub returns a revocation that deletes the grant, which ends all tokens of the
// person and application.
func revokeGitHub(api string) revocation {
	return func(p *latchkey.OAuth) revoke {
		client, secret := p.ClientID, p.ClientSecret
		return func(ctx context.Context, c *http.Client, t latchkey.Tokens) error {
			req, err := bare(ctx, http.MethodDelete, api+"/applications/"+url.PathEscape(client)+"/grant")
			if err != nil {
				return err
			}
			req.SetBasicAuth(client, secret)
			return ended(c, req, "application/json", map[string]string{"access_token": t.AccessToken})
		}
	}
}

// gitHubIssuer returns the issuer of the GitHub at site.
func gitHubIssuer(site string) string { return site + "/login/oauth" }

// fetchGitHub returns the profile. If that has no e-mail, it adds the proven one of a second
// call, with email_verified. It is no error if GitHub refuses the second call.
func fetchGitHub(ctx context.Context, a api) (latchkey.Claims, error) {
	profile, err := a.userInfo(ctx)
	if err != nil || profile.String("email") != "" {
		return profile, err
	}
	emails, err := a.get(ctx, a.user.URL+"/emails")
	if err != nil {
		return nil, err
	}
	var list []any
	if emails.isOK() && decode(emails.body, &list) == nil { // a token without the scope gets no list
		if email := proven(list, "verified", "primary"); email != "" {
			profile["email"], profile["email_verified"] = email, true
		}
	}
	return profile, nil
}
