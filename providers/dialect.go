package providers

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// maxToken bounds a token answer that is worth repairing, in bytes.
const maxToken = 64 << 10

// dialect says how the calls of a provider differ from the standards. A nil field means
// no difference.
type dialect struct {
	// header replaces the fields of these names in the header of every call.
	header http.Header
	// ask changes r, a copy of a token request; form is what it would send.
	ask func(r *http.Request, form url.Values)
	// answer turns the members of a token answer into those of RFC 6749 section 5. It is
	// called for each JSON object, errors too, and for a form that has an access token.
	answer func(latchkey.Claims) latchkey.Claims
}

// of returns p with a Transport that speaks the dialect. If p has a Transport, the
// dialect's changes come first, and that Transport gets the changed requests.
func (d dialect) of(p latchkey.OAuth) latchkey.OAuth {
	own := p.Transport
	p.Transport = func(next http.RoundTripper) http.RoundTripper {
		if own != nil {
			next = own(next)
		}
		return &interpreter{d, next}
	}
	return p
}

// interpreter is the transport of a provider with a dialect.
type interpreter struct {
	dialect
	next http.RoundTripper
}

// RoundTrip sends r with the changes of the dialect, which it makes in a copy. It
// repairs the answer to a token request, and returns every other answer as it is.
func (t *interpreter) RoundTrip(r *http.Request) (*http.Response, error) {
	form := tokenForm(r)
	if t.header != nil || form != nil {
		r = r.Clone(r.Context())
		for name, values := range t.header {
			r.Header[name] = values
		}
	}
	if form != nil && t.ask != nil {
		t.ask(r, form)
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil || form == nil || t.answer == nil {
		return resp, err
	}
	return t.repair(resp)
}

// tokenForm returns the form that a token request sends, or nil for other calls. A token
// request is a POST request of a form with grant_type. tokenForm leaves r unread.
func tokenForm(r *http.Request) url.Values {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return nil
	}
	if form, err := url.ParseQuery(string(text)); err == nil && form.Has("grant_type") {
		return form
	}
	return nil
}

// setBody replaces what a request sends.
func setBody(r *http.Request, mediaType string, body []byte) {
	r.Header.Set("Content-Type", mediaType)
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
}

// sendJSON replaces what r sends by a JSON object.
func sendJSON(r *http.Request, members map[string]string) {
	body, _ := json.Marshal(members) // texts can always be encoded
	setBody(r, "application/json", body)
}

// sendQuery makes r a GET request without a body. query replaces the query of the URL.
func sendQuery(r *http.Request, query url.Values) {
	r.Method, r.Body, r.GetBody, r.ContentLength = http.MethodGet, nil, nil, 0
	r.Header.Del("Content-Type")
	target := *r.URL
	target.RawQuery = query.Encode()
	r.URL = &target
}

// repair returns a token answer with the members of the standard as JSON. An answer with
// an access token gets status 200, unless it is a redirect. It returns an answer that it
// does not understand, or that is too large, as it came.
func (t *interpreter) repair(resp *http.Response) (*http.Response, error) {
	start, err := io.ReadAll(io.LimitReader(resp.Body, maxToken+1))
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	members := tokenMembers(resp, start)
	if members == nil || len(start) > maxToken {
		resp.Body = &rest{io.MultiReader(bytes.NewReader(start), resp.Body), resp.Body}
		return resp, nil
	}
	resp.Body.Close()
	members = t.answer(members)
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	if members.String("access_token") != "" && resp.StatusCode/100 != 3 { // redirects stay an error
		resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
	}
	resp.Header.Set("Content-Type", "application/json")
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	resp.ContentLength = int64(len(body))
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// rest is a body that was read in part. Its Reader begins at the start again.
type rest struct {
	io.Reader
	io.Closer
}

// tokenMembers returns the members of body if it is a JSON object, or a form with an access
// token whose Content-Type is not HTML. It returns nil for any other body.
func tokenMembers(resp *http.Response, body []byte) latchkey.Claims {
	if members, err := object(body); err == nil {
		return members
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || !form.Has("access_token") || strings.Contains(resp.Header.Get("Content-Type"), "html") {
		return nil
	}
	members := latchkey.Claims{}
	for name := range form {
		members[name] = form.Get(name)
	}
	return members
}

// asBearer sets token_type to bearer if c has an access token. It is for providers that leave
// token_type out, or name a type of their own. It changes c and returns it.
func asBearer(c latchkey.Claims) latchkey.Claims {
	if c.String("access_token") != "" {
		c["token_type"] = "bearer"
	}
	return c
}

// joinScopes replaces a scope that is a list by its texts, joined by spaces (RFC 6749 section
// 3.3). It leaves out entries that are not text. It changes c and returns it.
func joinScopes(c latchkey.Claims) latchkey.Claims {
	list, isList := c["scope"].([]any)
	if !isList {
		return c
	}
	scopes := make([]string, 0, len(list))
	for _, scope := range list {
		if text, ok := scope.(string); ok {
			scopes = append(scopes, text)
		}
	}
	c["scope"] = strings.Join(scopes, " ")
	return c
}

// unending drops an expires_in of 0, which says that a token does not expire. It changes
// c.
func unending(c latchkey.Claims) latchkey.Claims {
	if c.String("expires_in") == "0" {
		delete(c, "expires_in")
	}
	return c
}

// withoutIDToken drops the ID token of a provider that is used without OpenID Connect, since
// Latchkey would refuse an answer with it. It changes c and returns it.
func withoutIDToken(c latchkey.Claims) latchkey.Claims {
	delete(c, "id_token")
	return c
}

// fault returns the members of an error answer of RFC 6749 section 5.2, for providers that
// say errors in another way.
func fault(code, description string) latchkey.Claims {
	return latchkey.Claims{"error": code, "error_description": description}
}
