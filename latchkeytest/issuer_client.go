package latchkeytest

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/latchkeyhq/latchkey"
)

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// isClient reports whether a token request authenticates the client by the configured
// ClientAuth and by no other method (RFC 6749, section 2.3). With an empty ClientAuth any
// one method is accepted.
func (iss *Issuer) isClient(r *http.Request) bool {
	method := presented(r)
	if want := iss.config.ClientAuth; want != "" && method != want {
		return false
	}
	switch method {
	case latchkey.ClientSecretBasic:
		id, secret, _ := r.BasicAuth()
		id, idErr := url.QueryUnescape(id)
		secret, secretErr := url.QueryUnescape(secret)
		return idErr == nil && secretErr == nil && iss.knows(id, secret)
	case latchkey.ClientSecretPost:
		return iss.knows(r.PostForm.Get("client_id"), r.PostForm.Get("client_secret"))
	case latchkey.ClientSecretJWT, latchkey.PrivateKeyJWT:
		return iss.accepts(r.PostForm.Get("client_assertion"), method)
	case latchkey.ClientAuthNone:
		return iss.config.ClientAuth == latchkey.ClientAuthNone && r.PostForm.Get("client_id") == iss.config.ClientID
	}
	return false
}

// presented returns the method by which a token request authenticates the client:
// ClientAuthNone without any, and "" if it uses several. It needs a parsed form.
func presented(r *http.Request) latchkey.ClientAuth {
	var methods []latchkey.ClientAuth
	if r.Header.Get("Authorization") != "" {
		methods = append(methods, latchkey.ClientSecretBasic)
	}
	if r.PostForm.Has("client_secret") {
		methods = append(methods, latchkey.ClientSecretPost)
	}
	if r.PostForm.Get("client_assertion_type") == assertionType {
		methods = append(methods, assertionMethod(r.PostForm.Get("client_assertion")))
	}
	switch len(methods) {
	case 0:
		return latchkey.ClientAuthNone
	case 1:
		return methods[0]
	}
	return ""
}

func assertionMethod(assertion string) latchkey.ClientAuth {
	if _, err := jose.ParseSignedCompact(assertion, hmacAlgorithms); err == nil {
		return latchkey.ClientSecretJWT
	}
	return latchkey.PrivateKeyJWT
}

func (iss *Issuer) knows(id, secret string) bool {
	return id == iss.config.ClientID && subtle.ConstantTimeCompare([]byte(secret), []byte(iss.config.ClientSecret)) == 1
}

var (
	hmacAlgorithms      = []jose.SignatureAlgorithm{jose.HS256, jose.HS384, jose.HS512}
	publicKeyAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}
)

// accepts reports whether a client assertion is valid and new (RFC 7523, section 3). It
// remembers its jti.
func (iss *Issuer) accepts(assertion string, method latchkey.ClientAuth) bool {
	algorithms, key := publicKeyAlgorithms, any(iss.config.ClientKey)
	if method == latchkey.ClientSecretJWT {
		algorithms, key = hmacAlgorithms, []byte(iss.config.ClientSecret)
	}
	token, err := jose.ParseSignedCompact(assertion, algorithms)
	if err != nil {
		return false
	}
	payload, err := token.Verify(key)
	if err != nil {
		return false
	}
	var claims struct {
		Issuer   string `json:"iss"`
		Subject  string `json:"sub"`
		Audience any    `json:"aud"`
		Expires  int64  `json:"exp"`
		ID       string `json:"jti"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return false
	}
	return claims.Issuer == iss.config.ClientID && claims.Subject == iss.config.ClientID &&
		iss.isAudience(claims.Audience) && iss.config.Time().Unix() < claims.Expires && iss.isFresh(claims.ID)
}

// isAudience reports whether aud is, or lists, the issuer or the token endpoint, which
// older clients write.
func (iss *Issuer) isAudience(aud any) bool {
	accepted := []any{iss.URL, iss.URL + PathToken}
	if several, ok := aud.([]any); ok {
		return slices.ContainsFunc(several, func(one any) bool { return slices.Contains(accepted, one) })
	}
	return slices.Contains(accepted, aud)
}

// isFresh reports whether the assertion of this jti is used for the first time, and
// remembers it. An empty jti is never fresh.
func (iss *Issuer) isFresh(id string) bool {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	fresh := id != "" && !iss.seen[id]
	iss.seen[id] = true
	return fresh
}
