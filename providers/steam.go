package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Steam signs in with a Steam account. Its profile is a [profile.Steam].
//
// Steam speaks OpenID 2.0: there are no tokens, nothing to register and no client id.
// AUTH_STEAM_SECRET, or ClientSecret, is a Web API key, from
// https://steamcommunity.com/dev/apikey, with which Latchkey asks for a person's
// profile. Every answer is checked back with Steam itself. There is no e-mail. People
// are known by their SteamID64; names and the rest of the profile change at will.
//
// See https://partner.steamgames.com/doc/features/auth#website and
// https://openid.net/specs/openid-authentication-2_0.html.
func Steam(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "steam",
		Name:          "Steam",
		Authorization: latchkey.Endpoint{URL: steamLogin},
		Token:         latchkey.Endpoint{URL: steamLogin}, // where answers are confirmed
		UserInfo:      latchkey.Endpoint{URL: "https://api.steampowered.com/ISteamUser/GetPlayerSummaries/v2/"},
		Scopes:        []string{},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Derive:        deriveSteam,
		Identify:      fields{subject: "steamid", name: "personaname", image: "avatarfull", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#171a21", Mark: markSteam},
	})
}

const (
	steamLogin = "https://steamcommunity.com/openid/login"
	openID2    = "http://specs.openid.net/auth/2.0"
)

// deriveSteam sets a client id, which Steam does not have, and the Protocol, unless they are
// set. It returns an error if the Protocol that it has set lacks a Web API key.
func deriveSteam(p *latchkey.OAuth) error {
	p.ClientID = cmp.Or(p.ClientID, p.ID)
	if p.Protocol.Begin == nil {
		p.Protocol = latchkey.Protocol{Begin: beginSteam, Receive: receiveSteam(p.ClientSecret, p.UserInfo)}
		if p.ClientSecret == "" {
			return errors.New("providers: Steam wants a Web API key, from https://steamcommunity.com/dev/apikey")
		}
	}
	return nil
}

// beginSteam returns the URL that asks for the person that is signed in at Steam (section
// 9 of OpenID 2.0).
func beginSteam(returnURL string) (string, error) {
	site, err := url.Parse(returnURL)
	if err != nil {
		return "", errors.New("providers: the callback URL is malformed")
	}
	return steamLogin + "?" + url.Values{
		"openid.ns":         {openID2},
		"openid.mode":       {"checkid_setup"},
		"openid.claimed_id": {openID2 + "/identifier_select"},
		"openid.identity":   {openID2 + "/identifier_select"},
		"openid.return_to":  {returnURL},
		"openid.realm":      {site.Scheme + "://" + site.Host},
	}.Encode(), nil
}

// receiveSteam returns a Protocol.Receive that checks an answer, has Steam confirm it,
// and fetches the profile.
func receiveSteam(key string, user latchkey.Endpoint) func(context.Context, *http.Client, string, url.Values) (latchkey.Grant, error) {
	return func(ctx context.Context, c *http.Client, returnURL string, params url.Values) (latchkey.Grant, error) {
		id, err := steamID(returnURL, params)
		a := api{client: c, user: user}
		if err == nil {
			err = a.confirmSteam(ctx, params)
		}
		if err != nil {
			return latchkey.Grant{}, err
		}
		profile, err := a.fetchSteam(ctx, key, id)
		return latchkey.Grant{Profile: profile}, err
	}
}

// steamSigned are the fields that a signature has to cover (section 10.1), since
// Steam confirms no others.
var steamSigned = []string{"op_endpoint", "claimed_id", "identity", "return_to", "response_nonce", "assoc_handle"}

var steamIdentity = regexp.MustCompile(`^https?://steamcommunity\.com/openid/id/([0-9]{15,25})$`)

// steamID returns the id that an answer claims to be about (section 11; R-443). It is
// Steam's own word only if Steam confirms it. If the user has cancelled, the error wraps
// latchkey.ErrOAuthCallback.
func steamID(returnURL string, params url.Values) (string, error) {
	of := func(field string) string { return params.Get("openid." + field) }
	switch of("mode") {
	case "id_res":
	case "cancel", "setup_needed":
		return "", fmt.Errorf("%w: Steam says %q", latchkey.ErrOAuthCallback, of("mode"))
	default:
		return "", errors.New("providers: the callback is no answer of OpenID 2.0")
	}
	signed := strings.Split(of("signed"), ",")
	for _, field := range steamSigned {
		if !slices.Contains(signed, field) || of(field) == "" {
			return "", fmt.Errorf("providers: the answer of Steam does not sign %s", field)
		}
		if strings.Contains(of(field), "\n") { // what is signed are lines (section 4.1.1)
			return "", fmt.Errorf("providers: the answer of Steam has a line break in %s", field)
		}
	}
	match := steamIdentity.FindStringSubmatch(of("claimed_id"))
	switch {
	case of("ns") != openID2, of("op_endpoint") != steamLogin:
		return "", errors.New("providers: the answer is not Steam's")
	case of("return_to") != returnURL:
		return "", errors.New("providers: the answer of Steam is for another sign-in or site")
	case match == nil, of("identity") != of("claimed_id"):
		return "", errors.New("providers: the answer of Steam names no Steam account")
	}
	return match[1], nil
}

// confirmSteam returns an error unless Steam confirms that an answer is its own and new
// (section 11.4.2). Steam confirms each answer just once. It gets the fields that steamID
// has read and nothing else, so that it cannot take another parameter for one of these
//
func (a api) confirmSteam(ctx context.Context, params url.Values) error {
	form := url.Values{"openid.ns": {openID2}, "openid.mode": {"check_authentication"}}
	for _, field := range append([]string{"signed", "sig"}, steamSigned...) {
		form.Set("openid."+field, params.Get("openid."+field))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, steamLogin, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := a.call(req)
	if err != nil {
		return err
	}
	lines := strings.Split(string(got.body), "\n")
	if got.status != http.StatusOK || !slices.Contains(lines, "ns:"+openID2) || !slices.Contains(lines, "is_valid:true") {
		return fmt.Errorf("providers: Steam does not confirm the answer (status %d)", got.status)
	}
	return nil
}

// fetchSteam returns the profile of the person with the id.
func (a api) fetchSteam(ctx context.Context, key, id string) (latchkey.Claims, error) {
	target := a.user
	target.Params = url.Values{"key": {key}, "steamids": {id}}
	req, err := a.request(ctx, http.MethodGet, endpointURL(target), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Del("Authorization")
	list, err := a.object(req)
	if err != nil {
		return nil, err
	}
	player := member(list, "response", "players", "0")
	if player.String("steamid") != id {
		return nil, errors.New("providers: Steam knows no player of the id that it confirmed")
	}
	return player, nil
}
