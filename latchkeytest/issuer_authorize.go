package latchkeytest

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// codeLifetime is what RFC 6749 section 4.1.2 recommends at most, and plenty
// for a test.
const codeLifetime = 10 * time.Minute

// grant is what a code, an access token or a refresh token stands for.
type grant struct {
	id      string // the same for every token that follows from one code
	renewed bool   // by a refresh token

	person      Person
	redirectURI string
	nonce       string
	challenge   string
	scope       string
	authTime    time.Time
	expires     time.Time // of the code or token
}

// authorize answers a request for the authorization endpoint (OpenID Connect Core 1.0,
// section 3.1.2).
func (iss *Issuer) authorize(bad Misbehaviour, r *http.Request) reply {
	q := r.Form
	back, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case q.Get("client_id") != iss.config.ClientID:
		return plain(http.StatusBadRequest, "unknown client_id")
	case err != nil || back.Host == "" || !iss.allows(q.Get("redirect_uri")):
		return plain(http.StatusBadRequest, "redirect_uri is not allowed")
	}
	if code := iss.refusal(q); code != "" {
		return iss.respond(bad, q, url.Values{"error": {code}})
	}
	person, chosen := iss.choice(r)
	switch {
	case r.PostForm.Has("cancel"):
		return iss.respond(bad, q, url.Values{"error": {"access_denied"}})
	case !chosen && q.Get("prompt") == "none":
		return iss.respond(bad, q, url.Values{"error": {"login_required"}})
	case !chosen:
		return page(loginPage, login{"?" + r.URL.RawQuery, back.Host, iss.config.People})
	}
	return iss.respond(bad, q, url.Values{"code": {iss.issueCode(person, q)}})
}

func (iss *Issuer) allows(redirectURI string) bool {
	return len(iss.config.RedirectURIs) == 0 || slices.Contains(iss.config.RedirectURIs, redirectURI)
}

// refusal returns the error code that an authorization request deserves, or "".
func (iss *Issuer) refusal(q url.Values) string {
	mode := q.Get("response_mode")
	public := iss.config.ClientAuth == latchkey.ClientAuthNone
	switch {
	case q.Get("response_type") != "code":
		return "unsupported_response_type"
	case mode != "" && mode != "query" && mode != "form_post":
		return "invalid_request"
	case q.Has("code_challenge") && (q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43):
		return "invalid_request"
	case public && !q.Has("code_challenge"):
		return "invalid_request"
	}
	return ""
}

// choice returns the person of the sign-in: that of SignInAs, or the chosen one of
// [IssuerConfig].People. It returns false while none of these is chosen.
func (iss *Issuer) choice(r *http.Request) (Person, bool) {
	if len(iss.config.People) == 0 {
		iss.mu.Lock()
		defer iss.mu.Unlock()
		return iss.person, true
	}
	i, err := strconv.Atoi(r.PostForm.Get("person"))
	if err != nil || i < 0 || i >= len(iss.config.People) {
		return Person{}, false
	}
	return iss.config.People[i], true
}

// issueCode returns a new code for p, which stands for what the request q asked for.
func (iss *Issuer) issueCode(p Person, q url.Values) string {
	now := iss.config.Time()
	code := rand.Text()
	iss.mu.Lock()
	defer iss.mu.Unlock()
	iss.codes[code] = grant{
		person:      p,
		redirectURI: q.Get("redirect_uri"),
		nonce:       q.Get("nonce"),
		challenge:   q.Get("code_challenge"),
		scope:       q.Get("scope"),
		authTime:    now,
		expires:     now.Add(codeLifetime),
	}
	return code
}

// respond returns the authorization response to the request q, to which it adds iss and
// state: a redirect, or a page with a form for form_post.
func (iss *Issuer) respond(bad Misbehaviour, q, params url.Values) reply {
	params.Set("iss", iss.URL)
	if state := q.Get("state"); state != "" {
		params.Set("state", state)
	}
	if bad.Callback != nil {
		bad.Callback(params)
	}
	back, _ := url.Parse(q.Get("redirect_uri")) // checked by authorize
	if q.Get("response_mode") == "form_post" {
		return page(formPostPage, struct {
			Action string
			Params url.Values
		}{back.String(), params})
	}
	query := back.Query()
	for name, values := range params {
		query[name] = values
	}
	back.RawQuery = query.Encode()
	return redirect(back.String())
}
