package latchkeytest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"

	"github.com/latchkeyhq/latchkey"
)

// CSRFToken fetches the token that forms must carry as csrfToken.
func (c *Client) CSRFToken() string {
	c.t.Helper()
	var answer struct {
		CSRFToken string `json:"csrfToken"`
	}
	page := c.Get(c.BasePath + "/csrf")
	if err := json.Unmarshal(page.Body, &answer); err != nil || answer.CSRFToken == "" {
		c.t.Fatalf("latchkeytest: no CSRF token (does Site.AllowedHosts have 127.0.0.1:*, and is BasePath right?): %s", page.Describe())
	}
	return answer.CSRFToken
}

// SignIn signs in at the issuer, from the press of the button to the answer of the
// callback, which it returns. The test ends unless a user is signed in afterwards;
// [Client.TrySignIn] is for sign-ins that must be refused.
func (c *Client) SignIn(iss *Issuer) *Page {
	c.t.Helper()
	return c.mustBeIn(c.TrySignIn(iss))
}

// TrySignIn signs in as SignIn does, and returns the answer of the callback whatever it
// says. If the site refuses an earlier step, it returns that answer. See [Page.Error].
func (c *Client) TrySignIn(iss *Issuer) *Page {
	c.t.Helper()
	return c.Complete(c.Begin(iss.config.ID))
}

// mustBeIn ends the test unless a user is signed in after the answer p.
func (c *Client) mustBeIn(p *Page) *Page {
	c.t.Helper()
	if c.Session() == nil {
		c.t.Fatalf("latchkeytest: nobody is signed in: %s", p.Describe())
	}
	return p
}

// Begin posts the sign-in form of the provider with this id. If the site begins a sign-in,
// the answer redirects to the provider.
func (c *Client) Begin(provider string) *Page {
	c.t.Helper()
	return c.Post(c.BasePath+"/signin/"+url.PathEscape(provider), url.Values{
		"csrfToken":   {c.CSRFToken()},
		"callbackUrl": {c.URL + "/"},
	})
}

// Complete goes on from p, the answer that [Client.Begin] returned. It goes to the
// provider, chooses a person if one has to be chosen, comes back, and returns the site's
// answer. If p does not lead away from the site, Complete returns p.
func (c *Client) Complete(p *Page) *Page {
	c.t.Helper()
	return c.returnToSite(c.Consent(p))
}

// Consent goes the first half of [Client.Complete]. It returns the last answer of the
// provider, which sends the browser back to the site, or p if that does not lead to a
// provider.
func (c *Client) Consent(p *Page) *Page {
	c.t.Helper()
	if to := p.Location(); to == nil || c.isSite(to) {
		return p
	}
	page := c.Follow(p)
	action, form := c.Form(page)
	if action == nil || c.isSite(action) {
		return page
	}
	return c.send(http.MethodPost, action.String(), form, origin(page.URL))
}

// returnToSite goes the second half of Complete: it follows the redirect or posts the
// form that leads to the site. It returns p if that is an answer of the site.
func (c *Client) returnToSite(p *Page) *Page {
	c.t.Helper()
	if c.isSite(p.URL) {
		return p
	}
	if action, form := c.Form(p); action != nil && c.isSite(action) {
		return c.send(http.MethodPost, action.String(), form, origin(p.URL))
	}
	return c.Follow(p)
}

// SignInCredentials posts fields to the credentials provider and returns the answer
// of the callback. The test ends unless a user is signed in afterwards;
// [Client.TryCredentials] is for what must be refused.
func (c *Client) SignInCredentials(fields map[string]string) *Page {
	c.t.Helper()
	return c.mustBeIn(c.TryCredentials(fields))
}

// TryCredentials posts as SignInCredentials does, and returns the answer of the callback
// whatever it says.
func (c *Client) TryCredentials(fields map[string]string) *Page {
	c.t.Helper()
	form := url.Values{"csrfToken": {c.CSRFToken()}, "callbackUrl": {c.URL + "/"}}
	for name, value := range fields {
		form.Set(name, value)
	}
	return c.Post(c.BasePath+"/callback/credentials", form)
}

// SignInByEmail asks the provider called "email" for a magic link, opens what
// box was sent, presses the button of a link that wants to be confirmed, and
// returns the last answer. The test ends unless a user is signed in afterwards.
func (c *Client) SignInByEmail(email string, box *Mailbox) *Page {
	c.t.Helper()
	before := len(box.Messages(email))
	asked := c.Post(c.BasePath+"/signin/email", url.Values{"csrfToken": {c.CSRFToken()}, "callbackUrl": {c.URL + "/"}, "email": {email}})
	links := box.Messages(email)
	if len(links) == before {
		c.t.Fatalf("latchkeytest: no link was sent to %s: %s", email, asked.Describe())
	}
	page := c.Get(links[len(links)-1].URL)
	if action, form := c.Form(page); action != nil && c.isSite(action) {
		page = c.Post(action.String(), form)
	}
	return c.mustBeIn(page)
}

// Session fetches the session as the site shows it to the browser, or nil if no user is
// signed in. The test ends if the answer is no session.
func (c *Client) Session() *latchkey.Session {
	c.t.Helper()
	page := c.Get(c.BasePath + "/session")
	var s *latchkey.Session
	if err := json.Unmarshal(page.Body, &s); err != nil || page.Status != http.StatusOK {
		c.t.Fatalf("latchkeytest: no session to read: %s", page.Describe())
	}
	return s
}

// BearerToken opens a session for an app beside the browser's and returns its token.
// auth is the site's, with Session.Bearer. The test ends unless a user is signed in.
func (c *Client) BearerToken(auth *latchkey.Auth) string {
	c.t.Helper()
	verifier := rand.Text() + rand.Text()
	hash := sha256.Sum256([]byte(verifier))
	r := httptest.NewRequestWithContext(c.t.Context(), http.MethodGet, c.URL+"/", http.NoBody)
	c.attach(r, false, false)
	code, err := auth.BearerCode(r, base64.RawURLEncoding.EncodeToString(hash[:]))
	if err != nil {
		c.t.Fatalf("latchkeytest: no code for an app: %v", err)
	}
	token, _, err := auth.BearerToken(r, code, verifier)
	if err != nil {
		c.t.Fatalf("latchkeytest: no token for an app: %v", err)
	}
	return token
}

// SignOut signs out and returns the site's answer.
func (c *Client) SignOut() *Page {
	c.t.Helper()
	return c.Post(c.BasePath+"/signout", url.Values{"csrfToken": {c.CSRFToken()}, "callbackUrl": {c.URL + "/"}})
}

var (
	formPattern   = regexp.MustCompile(`(?s)<form\b([^>]*\bmethod="post"[^>]*)>(.*?)</form>`)
	actionPattern = regexp.MustCompile(`\baction="([^"]*)"`)
	inputPattern  = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	personPattern = regexp.MustCompile(`<button name="(person)" value="([^"]*)" data-subject="([^"]*)">`)
)

// Form returns the target and the hidden fields of the first form on p that is
// posted. On a page of an [Issuer] the fields choose Client.Person. It returns nil, nil
// if p has no such form, or another status than 200.
func (c *Client) Form(p *Page) (action *url.URL, fields url.Values) {
	found := formPattern.FindSubmatch(p.Body)
	if p.Status != http.StatusOK || found == nil {
		return nil, nil
	}
	target := actionPattern.FindSubmatch(found[1])
	if target == nil {
		return nil, nil
	}
	action, err := p.URL.Parse(html.UnescapeString(string(target[1])))
	if err != nil {
		return nil, nil
	}
	fields = url.Values{}
	for _, input := range inputPattern.FindAllSubmatch(found[2], -1) {
		fields.Add(html.UnescapeString(string(input[1])), html.UnescapeString(string(input[2])))
	}
	for _, button := range personPattern.FindAllSubmatch(found[2], -1) {
		if subject := html.UnescapeString(string(button[3])); c.Person == "" || c.Person == subject {
			fields.Set(string(button[1]), string(button[2]))
			break
		}
	}
	return action, fields
}
