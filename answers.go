package latchkey

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsonscan"
)

// Ready-made answers.

// jsonBytes returns an answer of ready-made JSON. It says nothing about caching.
func jsonBytes(status int, body []byte) *Response {
	return &Response{Status: status, Header: http.Header{"Content-Type": jsonHeader, "X-Content-Type-Options": nosniff}, Body: body}
}

// privateJSON returns an answer of ready-made JSON for one browser, which no cache may
// keep. All these answers share one header, since this answer is asked for most: a caller
// that changes the header calls ownHeader first.
func privateJSON(body []byte) *Response {
	return &Response{Status: http.StatusOK, Header: privateHeader, sharesHeader: true, Body: body}
}

// ownHeader replaces the header of r by a copy if other answers share it, so that the
// caller may change it. It returns r. A nil header stays nil.
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

// addVary adds Cookie to Vary, because a cookie decided the answer: no cache may hand it
// to another browser (RFC 9110, section 12.5.5). h must not be nil.
func addVary(h http.Header) { addVaryFor(h, varyCookie) }

// addVaryBearer adds Authorization to Vary, for sites on which a token in that header
// decides the answer. It does not add Cookie. h must not be nil.
func addVaryBearer(h http.Header) { addVaryFor(h, varyBearer) }

// addVaryFor adds name[0] to Vary, unless that has the name or a star. name has one
// element, and is put into h as it is.
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

// varied adds Cookie to Vary of r, an answer that depends on a cookie, and returns r.
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

// variedFor adds Cookie to Vary of r, and also Authorization if bearer is true. It returns r,
// whose header may then be shared: a caller that changes it calls ownHeader first.
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

// ownAnswer returns a copy of an answer of the application, which may use the same value for
// concurrent requests. The copy shares the body and each *http.Cookie: do not change these.
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

// badRequest returns the response with status 400, to a request that no route
// understands. For HEAD it has no body. r may be nil.
func badRequest(r *Request) *Response {
	res := jsonText(http.StatusBadRequest, "Bad request.")
	if r != nil && r.Method == http.MethodHead {
		res.Body = nil
	}
	return res
}

// configJSON returns the response with status 500 that tells a script that the operator
// has something to mend, and nothing about what.
func configJSON() *Response {
	return jsonBytes(http.StatusInternalServerError,
		[]byte(`{"message":"There was a problem with the server configuration. Check the server logs for more information."}`))
}

// asJSON returns a response for scripts in place of a redirect: {"url": the target}, with
// the cookies of r. It leaves out the other headers of r.
func asJSON(r *Response) *Response {
	res := jsonBytes(http.StatusOK, append(jsonscan.AppendText([]byte(`{"url":`), r.Redirect), '}'))
	res.Cookies = r.Cookies
	return res
}

// optionsRefused returns the response with status 400 by which Auth.js refuses options
// for a passkey.
func optionsRefused(reason string) *Response {
	return noStore(jsonBytes(http.StatusBadRequest, append(jsonscan.AppendText([]byte(`{"error":`), reason), '}')))
}

// secondsOf returns d in whole seconds, rounded up, for Retry-After (RFC 9110, section
// 10.2.3).
func secondsOf(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
