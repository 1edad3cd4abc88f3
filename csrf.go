package latchkey

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// The double-submit token, compatible with the original: the cookie holds
// token|hash, the form holds the token. Beside it stand the browser's own
// signals, which an attacker's page cannot forge.

// takeCSRF finds or makes this browser's token, and checks the one posted.
func (v *visit) takeCSRF() {
	if v.SkipCSRFCheck {
		v.csrfVerified = true
		return
	}
	value, _ := v.cookieValue(&v.kinds.csrf)
	token, hash, _ := strings.Cut(value, "|")
	if token != "" && equalText(hash, hashWith(token, v.secret)) {
		v.csrf = token
	}
	if v.isPost() {
		v.csrfVerified = v.isSameOrigin() || equalText(v.field("csrfToken"), token) && v.madeByUs(token, hash)
	}
	if v.acceptsForeignPost() {
		return // the browser kept its cookies back: a new token would undo its forms
	}
	if v.csrf == "" && (!v.isPost() || !v.csrfVerified) {
		v.csrf = randomHex(32)
		v.setCookie(v.kinds.csrf.make(v.csrf+"%7C"+hashWith(v.csrf, v.secret), time.Time{}))
	}
}

// isSameOrigin: the browser itself says that a page of this very origin sent the
// post. Scripts of other sites can set neither header (Fetch, section 2.2.2).
func (v *visit) isSameOrigin() bool {
	h := v.request.Header
	return h.Get("Sec-Fetch-Site") == "same-origin" && h.Get("Origin") == v.origin.text
}

// madeByUs also accepts a token from before a rotation of secrets, so that a
// form that was open at the time still posts.
func (v *visit) madeByUs(token, hash string) bool {
	if token == "" {
		return false
	}
	if v.csrf != "" {
		return true
	}
	for _, suffix := range v.suffixes {
		if equalText(hash, hashWith(token, suffix)) {
			return true
		}
	}
	return false
}

// hashWith is how the original keys a hash with the secret.
func hashWith(token, secret string) string {
	sum := sha256.Sum256(append(append(make([]byte, 0, 192), token...), secret...))
	return hex.EncodeToString(sum[:])
}

func equalText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// randomHex is n random bytes from the system, in hex.
func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// fromElsewhere asks the browser whether another site sent this post.
// Clients that are no browsers say nothing and pass.
func (v *visit) fromElsewhere() bool {
	if !v.isPost() || v.acceptsForeignPost() {
		return false
	}
	h := v.request.Header
	switch h.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "same-site":
		return v.RefuseSameSite
	case "cross-site":
		return true
	}
	given := h["Origin"]
	return len(given) > 0 && given[0] != "" && !strings.EqualFold(given[0], v.origin.text)
}

// acceptsForeignPost: a provider that answers by form_post posts from its own site.
func (v *visit) acceptsForeignPost() bool {
	p, ok := v.provider.(*oauthProvider)
	return ok && v.action == "callback" && p.formPost()
}

// csrfRoute answers GET /csrf.
func (v *visit) csrfRoute() *Response {
	if v.SkipCSRFCheck {
		v.set = append(v.set, v.kinds.csrf.clear(v.kinds.csrf.name()))
		return &Response{Status: http.StatusNotFound}
	}
	return noStore(jsonBytes(http.StatusOK, []byte(`{"csrfToken":"`+v.csrf+`"}`)))
}
