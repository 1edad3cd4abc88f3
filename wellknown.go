package latchkey

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// What browsers and password managers look for in the root of a site.

// RelatedOrigins answers GET /.well-known/webauthn: the origins of pages that may use the
// passkeys of this site, which are those of [WebAuthn].RelyingParty (Web Authentication
// Level 3, section 5.11). A site without passkeys gets status 404. Browsers ask the host
// that is the relying party's ID, over https, without cookies.
//
//	http.Handle("GET /.well-known/webauthn", auth.RelatedOrigins())
func (a *Auth) RelatedOrigins() http.Handler { return wellKnown(a, a.Core().RelatedOrigins) }

// PasskeyEndpoints answers GET /.well-known/passkey-endpoints, which tells password
// managers where passkeys are made and looked after (W3C Passkey Endpoints). page is a
// path or URL of the application's own; empty: the account page, or status 404 where that
// is off. A site without passkeys gets status 404, too.
//
//	http.Handle("GET /.well-known/passkey-endpoints", auth.PasskeyEndpoints(""))
func (a *Auth) PasskeyEndpoints(page string) http.Handler {
	return wellKnown(a, func(ctx context.Context, r *Request) (*Response, error) {
		return a.Core().PasskeyEndpoints(ctx, r, page)
	})
}

// ChangePasswordPage answers GET /.well-known/change-password, where password managers
// look for the form that changes a password (W3C A Well-Known URL for Changing
// Passwords): it redirects there. page is a path or URL of the application's own;
// empty: the form of the account page, or status 404 where that or [Password] is off.
//
//	http.Handle("GET /.well-known/change-password", auth.ChangePasswordPage(""))
func (a *Auth) ChangePasswordPage(page string) http.Handler {
	return wellKnown(a, func(ctx context.Context, r *Request) (*Response, error) {
		x, err := a.Core().reading(ctx, r)
		if err != nil {
			return nil, err
		}
		switch to := x.absolute(page); {
		case page != "":
			return &Response{Redirect: to}, nil
		case x.setup.passwords != nil && x.setup.config.AccountPage.Enabled:
			return &Response{Redirect: x.url("account?do=password")}, nil
		}
		return &Response{Status: http.StatusNotFound}, nil
	})
}

// wellKnown serves an answer. It answers an error, which has been logged, as a route does.
func wellKnown(a *Auth, answer func(context.Context, *Request) (*Response, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := requestHead(r)
		res, err := answer(r.Context(), head)
		if err != nil {
			res = a.Core().fault(r.Context(), head, err)
		}
		res.Send(w)
	})
}

// RelatedOrigins does what [Auth.RelatedOrigins] does, without net/http. The error is
// ErrUntrustedHost or a fault of the configuration.
func (c *Core) RelatedOrigins(ctx context.Context, r *Request) (*Response, error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return nil, err
	}
	var origins []string
	for _, p := range x.setup.order {
		for _, origin := range p.info().passkeyOrigins(x.request, x.origin) {
			if !slices.Contains(origins, origin) {
				origins = append(origins, origin)
			}
		}
	}
	if origins == nil {
		return &Response{Status: http.StatusNotFound}, nil
	}
	return asWellKnown(map[string][]string{"origins": origins})
}

// PasskeyEndpoints does what [Auth.PasskeyEndpoints] does, without net/http. The error is
// ErrUntrustedHost or a fault of the configuration.
func (c *Core) PasskeyEndpoints(ctx context.Context, r *Request, page string) (*Response, error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return nil, err
	}
	to := x.absolute(page)
	if page == "" && x.setup.config.AccountPage.Enabled {
		to = x.url("account")
	}
	if to == "" || passkeyProvider(x.setup) == nil {
		return &Response{Status: http.StatusNotFound}, nil
	}
	return asWellKnown(map[string]string{"enroll": to, "manage": to})
}

func asWellKnown(v any) (*Response, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonBytes(http.StatusOK, body), nil
}

// passkeyOrigins returns the origins of a provider for passkeys, or nil for any
// other.
func (p *providerInfo) passkeyOrigins(r *Request, o weburl.Origin) []string {
	if p.party == nil {
		return nil
	}
	return p.party(r, o).Origins
}
