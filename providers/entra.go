package providers

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// The issuers of Microsoft's worldwide cloud that stand for more than one
// tenant.
const (
	EntraCommon        = "https://login.microsoftonline.com/common/v2.0"        // any organization, and personal accounts
	EntraOrganizations = "https://login.microsoftonline.com/organizations/v2.0" // any organization
	EntraConsumers     = "https://login.microsoftonline.com/consumers/v2.0"     // personal accounts
)

// entraConsumersTenant is the tenant that all personal accounts belong to.
const entraConsumersTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

// MicrosoftEntraID signs in with a work, school or personal Microsoft account.
// Its profile is a [profile.Entra].
//
// Issuer says which accounts may enter: [EntraCommon], [EntraOrganizations], [EntraConsumers], or
// https://login.microsoftonline.com/{tenant}/v2.0 with the tenant's id, which is a
// GUID. If Issuer is empty, AUTH_MICROSOFT_ENTRA_ID_ISSUER is used, or else
// [EntraCommon]. An application that is only for some tenants, but cannot name a
// single one here, compares the claim tid in [latchkey.Callbacks].SignIn.
//
// A person is known by sub, which no administrator can change. The e-mail is
// whatever the administrator of some tenant entered, so it counts as proven
// only if Microsoft says so: the optional claims xms_edov (the domain's owner
// is verified) and verified_primary_email.
//
// There is no picture unless FetchProfile is [EntraPhoto].
//
// The scope offline_access brings a refresh token, which lives for 90 days and is
// followed by a new one at each use, without the old one ending. Nothing revokes it;
// the end_session_endpoint is in the discovery document.
func MicrosoftEntraID(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "microsoft-entra-id",
		Name:       "Microsoft Entra ID",
		OIDC:       true,
		Issuer:     EntraCommon,
		Derive:     deriveEntra,
		Scopes:     []string{"openid", "profile", "email", "User.Read"},
		Identify:   identifyEntra(p.FetchProfile != nil),
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#0072c6"},
	})
}

// deriveEntra sets MatchIssuer, unless it is set, if the issuer stands for several tenants.
func deriveEntra(p *latchkey.OAuth) error {
	if p.MatchIssuer == nil {
		p.MatchIssuer = matchEntraIssuer(p.Issuer)
	}
	return nil
}

// identifyEntra returns an Identify function. fetched says that the caller has a FetchProfile.
// Only then a data URL in picture becomes the Photo, since any tenant can make up that claim.
func identifyEntra(fetched bool) func(latchkey.Grant) (latchkey.Identity, error) {
	return func(g latchkey.Grant) (latchkey.Identity, error) {
		m := mapping{from: g.Profile}
		who := latchkey.Identity{
			Subject:      m.id("sub"),
			Name:         m.text("name"),
			Email:        m.text("email"),
			Image:        m.text("picture"),
			EmailTrust:   entraEmailTrust(g.Profile),
			WithoutImage: m.from["picture"] == nil,
		}
		if encoded, inline := strings.CutPrefix(who.Image, entraPhotoPrefix); inline && fetched {
			who.Photo, _ = base64.StdEncoding.DecodeString(encoded)
		}
		return m.identity(who)
	}
}

// entraEmailTrust returns whether Microsoft vouches for the e-mail. It never returns
// EmailTrustUnknown: a tenant can add claims of its own making, email_verified among
// them.
func entraEmailTrust(c latchkey.Claims) latchkey.EmailTrust {
	verified := isTrue(c["xms_edov"])
	list, _ := c["verified_primary_email"].([]any)
	email := c.String("email")
	if verified || slices.ContainsFunc(list, func(entry any) bool {
		target, ok := entry.(string)
		return ok && email != "" && strings.EqualFold(target, email)
	}) {
		return latchkey.EmailProven
	}
	return latchkey.EmailUnproven
}

// matchEntraIssuer returns a function that recognizes the issuers behind one that
// stands for many. For a single tenant it returns nil: the issuer is then compared
// as it is.
//
// The discovery documents of shared issuers hold a template, and tokens the
// issuer of the person's own tenant. That has to be the tenant which tid names,
// and one that the shared issuer stands for.
func matchEntraIssuer(configured string) func(issuer string, claims latchkey.Claims) bool {
	path, found := strings.CutSuffix(strings.TrimRight(configured, "/"), "/v2.0")
	slash := strings.LastIndexByte(path, '/')
	if !found || slash < 0 {
		return nil
	}
	site, shared := path[:slash+1], path[slash+1:]
	if shared != "common" && shared != "organizations" && shared != "consumers" {
		return nil
	}
	return func(issuer string, claims latchkey.Claims) bool {
		rest, ours := strings.CutPrefix(issuer, site)
		tenant, v2 := strings.CutSuffix(rest, "/v2.0")
		switch {
		case !ours || !v2:
			return false
		case claims == nil && tenant == "{tenantid}":
			return true
		case claims != nil && claims["tid"] != tenant:
			return false
		}
		return standsFor(shared, tenant)
	}
}

// standsFor reports whether a shared issuer (common, organizations or consumers) stands
// for a tenant.
func standsFor(shared, tenant string) bool {
	switch shared {
	case "consumers":
		return tenant == entraConsumersTenant
	case "organizations":
		return isGUID(tenant) && tenant != entraConsumersTenant
	}
	return isGUID(tenant)
}

// isGUID reports whether s is a GUID in lower case.
func isGUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// EntraPhoto returns a FetchProfile for [MicrosoftEntraID] that adds the person's picture, as
// a data URL of a square JPEG. Its side is 48, 64, 96, 120, 240, 360, 432, 504 or 648 pixels;
// 0: 48. If Microsoft refuses the call, as for other sizes, there is no picture and no error.
//
// The picture becomes part of the user, and with [latchkey.JWTSessions] of the
// cookie. Anything above 48 is for stored sessions. The call goes to Microsoft
// Graph of the worldwide cloud and needs the scope User.Read.
func EntraPhoto(pixels int) func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
	pixels = cmp.Or(pixels, 48)
	photo := fmt.Sprintf("https://graph.microsoft.com/v1.0/me/photos/%dx%d/$value", pixels, pixels)
	return func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
		profile, err := claimsOf(t.IDToken)
		if err != nil {
			return nil, err
		}
		a, err := api{client: c, tokens: t}.get(ctx, photo)
		if err != nil {
			return nil, err
		}
		delete(profile, "picture") // a claim of the tenant's making is no photo
		if a.isOK() && len(a.body) > 0 {
			profile["picture"] = entraPhotoPrefix + base64.StdEncoding.EncodeToString(a.body)
		}
		return profile, nil
	}
}

const entraPhotoPrefix = "data:image/jpeg;base64,"

// claimsOf returns the claims of a JWT and verifies nothing. It is for tokens that were
// verified already, or that came from the token endpoint.
func claimsOf(idToken string) (latchkey.Claims, error) {
	parts := strings.Split(idToken, ".")
	if len(parts) != 3 {
		return nil, errors.New("providers: there is no ID token")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, errors.New("providers: the ID token is malformed")
	}
	return object(payload)
}
