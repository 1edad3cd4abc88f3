package latchkey

import (
	"net/http"

	"github.com/latchkeyhq/latchkey/internal/jsontext"
)

// Ready-made answers.

// jsonBytes is an answer of ready-made JSON.
func jsonBytes(status int, body []byte) *Response {
	return &Response{Status: status, Header: http.Header{"Content-Type": jsonHeader, "X-Content-Type-Options": nosniff}, Body: body}
}

var (
	jsonHeader    = []string{jsonType}
	nosniff       = []string{"nosniff"}
	neverCache    = []string{"private, no-cache, no-store"}
	alreadyOld    = []string{"0"}
	noCachePragma = []string{"no-cache"}
)

// jsonText is an answer of one JSON string.
func jsonText(status int, text string) *Response {
	return jsonBytes(status, jsontext.AppendText(nil, text))
}

// noStore forbids caching in the words of Auth.js.
func noStore(r *Response) *Response {
	r.Header["Cache-Control"], r.Header["Expires"], r.Header["Pragma"] = neverCache, alreadyOld, noCachePragma
	return r
}

// badRequest answers what is no request of ours. HEAD gets no body, so that it
// is cheap and uses nothing up.
func badRequest(r *Request) *Response {
	res := jsonText(http.StatusBadRequest, "Bad request.")
	if r != nil && r.Method == http.MethodHead {
		res.Body = nil
	}
	return res
}

// configJSON tells a script that the operator has something to mend, and
// nothing about what.
func configJSON() *Response {
	return jsonBytes(http.StatusInternalServerError,
		[]byte(`{"message":"There was a problem with the server configuration. Check the server logs for more information."}`))
}

// asJSON puts a redirect's target into a body for scripts.
func asJSON(r *Response) *Response {
	res := jsonBytes(http.StatusOK, append(jsontext.AppendText([]byte(`{"url":`), r.Redirect), '}'))
	res.Cookies = r.Cookies
	return res
}
