package latchkey

import (
	"net/http"
	"strconv"

	"github.com/latchkeyhq/latchkey/internal/guarded"
)

// retryAfter is how many seconds a client that meets an outage is asked to wait
// (RFC 9110, section 10.2.3): long enough for a restart, short enough to wait for.
const retryAfter = 10

// isOutage reports whether err says that a store was away or did not answer in time, or
// that the audit log takes no events.
func isOutage(err error) bool { return guarded.IsOutage(err) }

// faultJSON returns the JSON for a script that gets no answer because of err: with status
// 503 and Retry-After for an outage, and else with status 500. It says nothing else of
// err.
func faultJSON(err error) *Response {
	if !isOutage(err) {
		return configJSON()
	}
	res := jsonBytes(http.StatusServiceUnavailable,
		[]byte(`{"message":"Something is not answering at the moment. Please try again in a little while."}`))
	return laterOn(res)
}

// laterOn sets Retry-After on r, whose Header must not be nil, and returns r.
func laterOn(r *Response) *Response {
	r.Header["Retry-After"] = []string{strconv.Itoa(retryAfter)}
	return r
}
