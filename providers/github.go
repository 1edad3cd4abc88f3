package providers

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// GitHub signs in with an OAuth app of github.com. Its profile is a
// [GitHubProfile].
//
// Somebody who keeps their e-mail private is asked for it with a second call,
// which needs the scope user:email, and only an e-mail that GitHub has verified
// is taken; email_verified is then added to the profile. Without one the person
// has no e-mail.
func GitHub(p latchkey.OAuth) *latchkey.OAuth {
	p.VerifiesEmail = cmp.Or(p.VerifiesEmail, latchkey.EmailProven)
	return gitHub(p, "https://github.com", "https://api.github.com")
}

// GitHubEnterprise is [GitHub] for a GitHub Enterprise Server at baseURL, such
// as "https://git.example.com". A site that has both gives one of them an ID of
// its own. Whether e-mails are proven there is for the server's operator to
// say, so VerifiesEmail stays unknown unless it is set.
func GitHubEnterprise(baseURL string, p latchkey.OAuth) *latchkey.OAuth {
	baseURL = strings.TrimRight(baseURL, "/")
	p.Issuer = cmp.Or(p.Issuer, gitHubIssuer(baseURL)) // baseURL is the caller's word
	return gitHub(p, baseURL, baseURL+"/api/v3")
}

func gitHub(p latchkey.OAuth, site, api string) *latchkey.OAuth {
	o := p.Or(latchkey.OAuth{
		ID:            "github",
		Name:          "GitHub",
		Issuer:        gitHubIssuer(site), // GitHub names itself in the callback (RFC 9207)
		Authorization: latchkey.Endpoint{URL: site + "/login/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: site + "/login/oauth/access_token"},
		UserInfo:      latchkey.Endpoint{URL: api + "/user"},
		Scopes:        []string{"read:user", "user:email"},
		Identify:      identifyGitHub,
		Style:         latchkey.Style{Color: "#24292f"},
	})
	if o.FetchProfile == nil {
		o.FetchProfile = fetchGitHub(o.UserInfo)
	}
	return o
}

func gitHubIssuer(site string) string { return site + "/login/oauth" }

func identifyGitHub(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	return m.identity(latchkey.Identity{
		Subject: m.id("id"),
		Name:    m.text("name", "login"),
		Email:   m.text("email"),
		Image:   m.text("avatar_url"),
	})
}

func fetchGitHub(user latchkey.Endpoint) func(context.Context, *http.Client, latchkey.Tokens) (latchkey.Claims, error) {
	return func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
		profile, err := getObject(ctx, c, endpointURL(user), t)
		if err != nil || profile.String("email") != "" {
			return profile, err
		}
		emails, err := get(ctx, c, user.URL+"/emails", t)
		if err != nil {
			return nil, err
		}
		if email := verifiedEmail(emails); email != "" {
			profile["email"], profile["email_verified"] = email, true
		}
		return profile, nil
	}
}

// verifiedEmail picks the primary e-mail if it is verified, else the first one
// that is. Anybody can enter the e-mail of somebody else, so others do not
// count. A token without the scope gets no list, which is no reason to refuse
// it.
func verifiedEmail(a *answer) (email string) {
	var list []latchkey.Claims
	if !a.isOK() || decode(a.body, &list) != nil {
		return ""
	}
	for _, entry := range list {
		target, _ := entry["email"].(string)
		switch {
		case entry["verified"] != true:
		case entry["primary"] == true:
			return target
		case email == "":
			email = target
		}
	}
	return email
}

// GitHubProfile is what GitHub says about a person. Texts that GitHub leaves
// null are empty.
type GitHubProfile struct {
	Login             string    `json:"login"` // may change and be taken over by somebody else
	ID                int64     `json:"id"`
	NodeID            string    `json:"node_id"`
	AvatarURL         string    `json:"avatar_url"`
	GravatarID        string    `json:"gravatar_id"`
	URL               string    `json:"url"`
	HTMLURL           string    `json:"html_url"`
	FollowersURL      string    `json:"followers_url"`
	FollowingURL      string    `json:"following_url"`
	GistsURL          string    `json:"gists_url"`
	StarredURL        string    `json:"starred_url"`
	SubscriptionsURL  string    `json:"subscriptions_url"`
	OrganizationsURL  string    `json:"organizations_url"`
	ReposURL          string    `json:"repos_url"`
	EventsURL         string    `json:"events_url"`
	ReceivedEventsURL string    `json:"received_events_url"`
	Type              string    `json:"type"`
	SiteAdmin         bool      `json:"site_admin"`
	Name              string    `json:"name"`
	Company           string    `json:"company"`
	Blog              string    `json:"blog"`
	Location          string    `json:"location"`
	Email             string    `json:"email"`
	EmailVerified     bool      `json:"email_verified"` // set by this package; see GitHub
	Hireable          *bool     `json:"hireable"`       // nil: not said
	Bio               string    `json:"bio"`
	TwitterUsername   string    `json:"twitter_username"`
	PublicRepos       int64     `json:"public_repos"`
	PublicGists       int64     `json:"public_gists"`
	Followers         int64     `json:"followers"`
	Following         int64     `json:"following"`
	CreatedAt         time.Time `json:"created_at"`
	UpdatedAt         time.Time `json:"updated_at"`
	SuspendedAt       time.Time `json:"suspended_at"` // zero: not suspended

	// Only given to tokens with the scope user; nil or false otherwise.

	PrivateGists            *int64      `json:"private_gists"`
	TotalPrivateRepos       *int64      `json:"total_private_repos"`
	OwnedPrivateRepos       *int64      `json:"owned_private_repos"`
	DiskUsage               *int64      `json:"disk_usage"` // KiB
	Collaborators           *int64      `json:"collaborators"`
	TwoFactorAuthentication bool        `json:"two_factor_authentication"`
	Plan                    *GitHubPlan `json:"plan"`
}

// GitHubPlan is the plan that somebody pays GitHub for.
type GitHubPlan struct {
	Name          string `json:"name"`
	Space         int64  `json:"space"` // KiB
	Collaborators int64  `json:"collaborators"`
	PrivateRepos  int64  `json:"private_repos"`
}
