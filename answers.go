package latchkey

import (
	"net/http"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// Ready-made answers.

// jsonBytes returns an answer of ready-made JSON.
func jsonBytes(status int, body []byte) *Response {
	return &Response{Status: status, Header: http.Header{"Content-Type": jsonHeader, "X-Content-Type-Options": nosniff}, Body: body}
}

// privateJSON returns an answer of ready-made JSON for one browser, which no
// cache may keep. Its header is made once, because this answer is asked for
// most.
func privateJSON(body []byte) *Response {
	return &Response{Status: http.StatusOK, Header: privateHeader, sharesHeader: true, Body: body}
}

// ownHeader returns r with a header that the caller may change.
func ownHeader(r *Response) *Response {
	if r.sharesHeader {
		r.Header, r.sharesHeader = r.Header.Clone(), false
	}
	return r
}

var (
	privateHeader = varied(noStore(jsonBytes(0, nil))).Header
	varyHeader    = http.Header{"Vary": varyCookie}

	jsonHeader    = []string{jsonType}
	nosniff       = []string{"nosniff"}
	neverCache    = []string{"private, no-cache, no-store"}
	alreadyOld    = []string{"0"}
	noCachePragma = []string{"no-cache"}
	varyCookie    = []string{"Cookie"}
	varyBearer    = []string{"Authorization"}
)

// addVary marks an answer that a cookie decided: no cache may hand it to
// another browser (RFC 9110, section 12.5.5).
func addVary(h http.Header) { addVaryFor(h, varyCookie) }

// addVaryBearer does what addVary does, for sites on which a token in the
// Authorization header decides, too.
func addVaryBearer(h http.Header) { addVaryFor(h, varyBearer) }

// addVaryFor adds a name to Vary, unless that has the name or a star. name has one
// element.
func addVaryFor(h http.Header, name []string) {
	given := h["Vary"]
	for _, line := range given {
		for known := range strings.SplitSeq(line, ",") {
			if known = strings.TrimSpace(known); known == "*" || strings.EqualFold(known, name[0]) {
				return
			}
		}
	}
	if given == nil {
		h["Vary"] = name
		return
	}
	h["Vary"] = append(slices.Clone(given), name[0])
}

// varied returns r with the headers of an answer that depends on a cookie.
func varied(r *Response) *Response {
	if r.sharesHeader { // which varies already
		return r
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	addVary(r.Header)
	return r
}

// variedFor does what varied does. With bearer, the answer depends on the
// Authorization header, too.
func variedFor(bearer bool, r *Response) *Response {
	if r.Header == nil { // as of most redirects
		r.Header, r.sharesHeader = varyHeader, true
	}
	r = varied(r)
	if bearer {
		addVaryBearer(ownHeader(r).Header)
	}
	return r
}

// ownAnswer returns a copy of an answer of the application, which may use the
// same value for concurrent requests.
func ownAnswer(r *Response) *Response {
	own := *r
	own.Header, own.Cookies = r.Header.Clone(), slices.Clone(r.Cookies)
	return &own
}

// jsonText returns an answer of one JSON string.
func jsonText(status int, text string) *Response {
	return jsonBytes(status, jsonscan.AppendText(nil, text))
}

// noStore sets the headers of r that forbid caching, in the words of Auth.js, and returns
// r. r.Header must not be nil.
func noStore(r *Response) *Response {
	r.Header["Cache-Control"], r.Header["Expires"], r.Header["Pragma"] = neverCache, alreadyOld, noCachePragma
	return r
}

// badRequest returns the response to a request that no route understands. HEAD gets no
// body, so that it is cheap and uses nothing up. r may be nil.
func badRequest(r *Request) *Response {
	res := jsonText(http.StatusBadRequest, "Bad request.")
	if r != nil && r.Method == http.MethodHead {
		res.Body = nil
	}
	return res
}

// configJSON returns the response that tells a script that the operator has something to
// mend, and nothing about what.
func configJSON() *Response {
	return jsonBytes(http.StatusInternalServerError,
		[]byte(`{"message":"There was a problem with the server configuration. Check the server logs for more information."}`))
}

// asJSON puts a redirect's target into a body for scripts.
func asJSON(r *Response) *Response {
	res := jsonBytes(http.StatusOK, append(jsonscan.AppendText([]byte(`{"url":`), r.Redirect), '}'))
	res.Cookies = r.Cookies
	return res
}

// optionsRefused returns the answer by which Auth.js refuses options for a
// passkey.
func optionsRefused(reason string) *Response {
	return noStore(jsonBytes(http.StatusBadRequest, append(jsonscan.AppendText([]byte(`{"error":`), reason), '}')))
}
