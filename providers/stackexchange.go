package providers

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// StackExchange signs in with an account of Stack Overflow and its network. Its profile
// is a [profile.StackExchange].
//
//	providers.StackExchange(latchkey.OAuth{FetchProfile: providers.StackExchangeProfile("the key")})
//
// Register an app at https://stackapps.com/apps/oauth/register with the domain of the
// site. The key of the app goes with every call of the API: FetchProfile is
// [StackExchangeProfile] with it, or New fails. Users are known by the id of their
// account in the network. There is no e-mail, and a user without a profile at Stack
// Overflow cannot sign in.
//
// See https://api.stackexchange.com/docs/authentication (read on 24 November 2026).
func StackExchange(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairStackExchange}.of(p).Or(latchkey.OAuth{
		ID:            "stackexchange",
		Name:          "Stack Exchange",
		Authorization: latchkey.Endpoint{URL: "https://stackoverflow.com/oauth"},
		Token:         latchkey.Endpoint{URL: "https://stackoverflow.com/oauth/access_token/json"},
		ClientAuth:    latchkey.ClientSecretPost,
		Checks:        []latchkey.Check{latchkey.CheckState},
		Scopes:        []string{},
		Derive:        deriveStackExchange,
		Identify:      identifyStackExchange,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#1e5397"},
	})
}

// deriveStackExchange returns an error without a FetchProfile, which has to send the
// key.
func deriveStackExchange(p *latchkey.OAuth) error {
	if p.FetchProfile == nil {
		return errors.New("providers: the API of Stack Exchange needs a key: set FetchProfile to providers.StackExchangeProfile(key), with the key of the application")
	}
	return nil
}

// StackExchangeProfile returns a FetchProfile for [StackExchange] with the key of the
// app.
func StackExchangeProfile(key string) func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
	return func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
		me := latchkey.Endpoint{URL: "https://api.stackexchange.com/2.3/me", Params: url.Values{"site": {"stackoverflow"}, "key": {key}}}
		return tokenInQuery("access_token")(ctx, api{c, t, me})
	}
}

// repairStackExchange turns an error, which is an object, into one of OAuth, and renames
// expires, the life of a token, to expires_in.
func repairStackExchange(c latchkey.Claims) latchkey.Claims {
	if failed := member(c, "error"); failed != nil {
		return fault(failed.String("type"), failed.String("message"))
	}
	if life, ok := c["expires"]; ok {
		delete(c, "expires")
		c["expires_in"] = life
	}
	return asBearer(c)
}

// identifyStackExchange returns the person in the first item. It unescapes the name from HTML.
func identifyStackExchange(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: member(g.Profile, "items", "0")}
	return m.identity(latchkey.Identity{
		Subject: m.id("account_id"), Name: html.UnescapeString(m.text("display_name")), Image: m.text("profile_image"),
		EmailTrust: latchkey.EmailUnproven,
	})
}
