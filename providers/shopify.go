package providers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Shopify signs in a shop, and no person. Its profile is a [profile.Shopify].
//
//	providers.Shopify(latchkey.OAuth{Issuer: providers.ShopifyShop("acme")})
//
// AUTH_SHOPIFY_ISSUER can name the shop too, as https://{shop}.myshopify.com. The app,
// made in the Partner or Dev Dashboard, has a redirection URL that ends in
// /callback/shopify. Shopify signs its callbacks, which is checked beside the state.
//
// The e-mail is the shop's, entered by the merchant. Tokens are for offline access
// and end after an hour, with a refresh token that changes at each use: public apps
// made since 1 April 2026 get no others, and from 1 January 2027 no public app does
// (https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/offline-access-tokens).
// A custom app can have tokens without an end, with expiring=0 in Token.Params.
//
// See https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant.
func Shopify(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{ask: askExpiring, answer: asBearer}.of(p).Or(latchkey.OAuth{
		ID:             "shopify",
		Name:           "Shopify",
		Derive:         deriveShopify,
		ClientAuth:     latchkey.ClientSecretPost,
		Scopes:         []string{"read_customers"},
		ScopeSeparator: ",",
		EmailTrust:     latchkey.EmailUnproven,
		Style:          latchkey.Style{Color: "#95bf47", Mark: markShopify},
	})
}

// askExpiring asks for a token that expires, unless Token.Params has the parameter expiring.
func askExpiring(r *http.Request, form url.Values) {
	if !r.URL.Query().Has("expiring") {
		form.Set("expiring", "1")
		setBody(r, "application/x-www-form-urlencoded", []byte(form.Encode()))
	}
}

// ShopifyShop returns the Issuer of [Shopify] for a shop, by the name before
// .myshopify.com.
func ShopifyShop(name string) string { return "https://" + name + ".myshopify.com" }

// deriveShopify sets the endpoints by the issuer, and FetchProfile and Identify unless
// they are set. It returns an error if the issuer is the bare name of a shop.
func deriveShopify(p *latchkey.OAuth) error {
	if isShopName(p.Issuer) {
		return fmt.Errorf("providers: the issuer is %q; write %s", p.Issuer, ShopifyShop(p.Issuer))
	}
	err := below("/admin/oauth/authorize", "/admin/oauth/access_token", "/admin/api/2026-10/graphql.json")(p)
	fetching(p, fetchShopify)
	if p.Identify == nil {
		p.Identify = identifyShopify(p.ClientSecret)
	}
	return err
}

// isShopName reports whether s is what stands before .myshopify.com, and nothing else.
func isShopName(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// shopQuery asks for what [profile.ShopifyShop] has.
const shopQuery = "query { shop { id name email myshopifyDomain contactEmail createdAt } }"

// fetchShopify asks for the shop. It sends the token in a header of Shopify's own.
func fetchShopify(ctx context.Context, a api) (latchkey.Claims, error) {
	req, err := a.request(ctx, http.MethodPost, endpointURL(a.user), map[string]string{"query": shopQuery})
	if err != nil {
		return nil, err
	}
	req.Header.Del("Authorization")
	req.Header.Set("X-Shopify-Access-Token", a.tokens.AccessToken)
	return a.object(req)
}

// identifyShopify returns an Identify function that checks the signature of the callback.
func identifyShopify(secret string) func(latchkey.Grant) (latchkey.Identity, error) {
	return func(g latchkey.Grant) (latchkey.Identity, error) {
		if !isFromShopify(g.Params, secret) {
			return latchkey.Identity{}, errors.New("providers: the hmac of the callback is not Shopify's")
		}
		m := mapping{from: member(g.Profile, "data", "shop")}
		return m.identity(latchkey.Identity{
			Subject: strings.TrimPrefix(m.text("id"), "gid://shopify/Shop/"), Name: m.text("name"), Email: m.text("email"),
			EmailTrust: latchkey.EmailUnproven, WithoutImage: true,
		})
	}
}

// isFromShopify reports whether hmac signs all other parameters, in the order of their
// names.
func isFromShopify(params url.Values, secret string) bool {
	signed := maps.Clone(params)
	delete(signed, "hmac")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed.Encode()))
	return hmac.Equal([]byte(params.Get("hmac")), []byte(hex.EncodeToString(mac.Sum(nil))))
}
