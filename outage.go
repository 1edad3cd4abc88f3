package latchkey

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
)

// retryAfter is how many seconds whoever meets an outage is asked to wait
// (RFC 9110, section 10.2.3): long enough for a restart, short enough to wait for.
const retryAfter = 10

// isOutage reports whether the store was away, or did not answer in time. As
// far as the library can tell nothing needs mending, and the same request may
// succeed in a moment.
func isOutage(err error) bool {
	if !errors.Is(err, ErrAdapter) {
		return false
	}
	for _, known := range []error{ErrUnavailable, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, known) {
			return true
		}
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return true
	}
	if _, refused := errors.AsType[tls.AlertError](err); refused { // it is there, and certificates are wrong
		return false
	}
	_, broken := errors.AsType[*net.OpError](err)
	return broken
}

// faultJSON tells a script that err kept it from an answer: whether it makes sense
// to try again, and nothing else.
func faultJSON(err error) *Response {
	if !isOutage(err) {
		return configJSON()
	}
	res := jsonBytes(http.StatusServiceUnavailable,
		[]byte(`{"message":"Something is not answering at the moment. Please try again in a little while."}`))
	return laterOn(res)
}

// laterOn says when to try again.
func laterOn(r *Response) *Response {
	r.Header["Retry-After"] = []string{strconv.Itoa(retryAfter)}
	return r
}
