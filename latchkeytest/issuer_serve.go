package latchkeytest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// maxIssuerBody bounds what an Issuer reads of a request, in bytes.
const maxIssuerBody = 1 << 20

// serve records a request and answers it, as the Misbehaviour says.
func (iss *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxIssuerBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "malformed request", http.StatusBadRequest)
		return
	}
	iss.record(r)
	if before := iss.misbehaviour().Before; before != nil {
		before(r.URL.Path)
	}
	bad := iss.misbehaviour()
	answer := bad.Answers[r.URL.Path]
	if answer.intercept(w, r, iss.closing) {
		return
	}
	answer.send(w, iss.route(bad, r))
}

// mostRecorded is how many requests an issuer remembers at most.
const mostRecorded = 10_000

// record remembers a request. It forgets the older half when there are too many.
func (iss *Issuer) record(r *http.Request) {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	if len(iss.recorded) == mostRecorded {
		iss.recorded = slices.Delete(iss.recorded, 0, mostRecorded/2)
	}
	iss.recorded = append(iss.recorded, RecordedRequest{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Form: r.PostForm, Header: r.Header.Clone()})
}

// route returns the reply of the endpoint that r is for.
func (iss *Issuer) route(bad Misbehaviour, r *http.Request) reply {
	switch r.URL.Path {
	case PathDiscovery:
		return document(iss.discovery(), bad.Discovery)
	case PathJWKS:
		return document(iss.publishedKeys(), bad.JWKS)
	case PathAuthorize:
		return iss.authorize(bad, r)
	case PathToken:
		return iss.token(bad, r)
	case PathUserInfo:
		return iss.userInfo(bad, r)
	case PathEndSession:
		return iss.endSession(r)
	case PathRevocation:
		return iss.revoke(r)
	}
	return plain(http.StatusNotFound, "there is nothing here")
}

// discovery returns the discovery document.
func (iss *Issuer) discovery() map[string]any {
	methods := []latchkey.ClientAuth{latchkey.ClientSecretBasic, latchkey.ClientSecretPost, latchkey.ClientSecretJWT}
	if iss.config.ClientAuth != "" {
		methods = []latchkey.ClientAuth{iss.config.ClientAuth}
	}
	return map[string]any{
		"issuer":                                         iss.URL,
		"authorization_endpoint":                         iss.URL + PathAuthorize,
		"token_endpoint":                                 iss.URL + PathToken,
		"userinfo_endpoint":                              iss.URL + PathUserInfo,
		"jwks_uri":                                       iss.URL + PathJWKS,
		"end_session_endpoint":                           iss.URL + PathEndSession,
		"revocation_endpoint":                            iss.URL + PathRevocation,
		"scopes_supported":                               []string{"openid", "profile", "email", "offline_access"},
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query", "form_post"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{iss.config.Algorithm},
		"token_endpoint_auth_methods_supported":          methods,
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	}
}

// endSession answers a request for the logout endpoint (RP-Initiated Logout 1.0, section
// 2) of a provider without sessions. It redirects to any post_logout_redirect_uri.
func (iss *Issuer) endSession(r *http.Request) reply {
	back, err := url.Parse(r.Form.Get("post_logout_redirect_uri"))
	if err != nil || back.Host == "" {
		return plain(http.StatusOK, "You are signed out.")
	}
	if state := r.Form.Get("state"); state != "" {
		query := back.Query()
		query.Set("state", state)
		back.RawQuery = query.Encode()
	}
	return redirect(back.String())
}

// userInfo answers a request for the userinfo endpoint (OpenID Connect Core 1.0, section
// 5.3).
func (iss *Issuer) userInfo(bad Misbehaviour, r *http.Request) reply {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	iss.mu.Lock()
	g, known := iss.access[token]
	iss.mu.Unlock()
	if !strings.EqualFold(scheme, "Bearer") || !known || !iss.config.Time().Before(g.expires) {
		a := oauthError(http.StatusUnauthorized, "invalid_token")
		a.header.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		return a
	}
	if !iss.config.SignedUserInfo {
		return document(g.person.allClaims(), bad.UserInfo)
	}
	claims := g.person.allClaims()
	claims["iss"], claims["aud"] = iss.URL, iss.config.ClientID
	if bad.UserInfo != nil {
		bad.UserInfo(claims)
	}
	signed, err := iss.sign(Misbehaviour{}, claims)
	if err != nil {
		return plain(http.StatusInternalServerError, err.Error())
	}
	return reply{http.StatusOK, http.Header{"Content-Type": {"application/jwt"}}, []byte(signed)}
}

// document returns a reply of members as JSON, after spoil has changed them. spoil may be
// nil.
func document(members map[string]any, spoil func(map[string]any)) reply {
	if spoil != nil {
		spoil(members)
	}
	body, err := json.Marshal(members)
	if err != nil {
		return plain(http.StatusInternalServerError, err.Error())
	}
	return reply{http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body}
}

// oauthError returns a reply with an error code as JSON.
func oauthError(status int, code string) reply {
	a := document(map[string]any{"error": code}, nil)
	a.status = status
	return a
}

// plain returns a reply of plain text.
func plain(status int, text string) reply {
	return reply{status, http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, []byte(text)}
}

func redirect(to string) reply {
	return reply{http.StatusFound, http.Header{"Location": {to}}, nil}
}
