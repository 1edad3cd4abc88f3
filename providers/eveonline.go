package providers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// EVEOnline signs in with a character of EVE Online. Its profile is a
// [profile.EVEOnline], which is the payload of the access token: the endpoint that
// Auth.js asks, /oauth/verify, is deprecated since 1 November 2021
// (https://developers.eveonline.com/blog/article/sso-endpoint-deprecations-2).
//
// People are known by their character, and a character can be sold: compare Owner of
// the profile where that matters, because it changes with the owner. There is no
// e-mail. See https://docs.esi.evetech.net/docs/sso/validating_eve_jwt.html.
func EVEOnline(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "eveonline",
		Name:          "EVE Online",
		Authorization: latchkey.Endpoint{URL: "https://login.eveonline.com/v2/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://login.eveonline.com/v2/oauth/token"},
		Scopes:        []string{"publicData"},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Derive:        deriveEVEOnline,
		Identify:      identifyEVEOnline,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#1a1a1a"},
	})
}

// eveSubject stands before the id of a character.
const eveSubject = "CHARACTER:EVE:"

// deriveEVEOnline sets a FetchProfile, unless there is one, that reads the profile from the
// access token. That function checks issuer, audience and kind of subject. It does not check
// the signature, because the token comes over TLS from the token endpoint (OpenID Connect
// Core 1.0, section 3.1.3.7, rule 6).
func deriveEVEOnline(p *latchkey.OAuth) error {
	client := p.ClientID
	if p.FetchProfile == nil {
		p.FetchProfile = func(_ context.Context, _ *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
			c, err := claimsOf(t.AccessToken)
			if err != nil {
				return nil, errors.New("providers: the access token of EVE Online is no JWT")
			}
			audience, _ := c["aud"].([]any)
			issuer := strings.TrimPrefix(strings.TrimSuffix(c.String("iss"), "/"), "https://")
			if issuer != "login.eveonline.com" || !slices.Contains(audience, any(client)) || !strings.HasPrefix(c.String("sub"), eveSubject) {
				return nil, errors.New("providers: the access token is not EVE Online's, for this client and a character")
			}
			return c, nil
		}
	}
	return nil
}

// identifyEVEOnline returns the character, by its bare number. It makes the URL of the
// portrait from that.
func identifyEVEOnline(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	who := latchkey.Identity{Subject: strings.TrimPrefix(m.text("sub"), eveSubject), Name: m.text("name")}
	if who.Subject != "" {
		who.Image = "https://images.evetech.net/characters/" + url.PathEscape(who.Subject) + "/portrait?size=128"
	}
	return m.identity(who)
}
