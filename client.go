package latchkey

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/client"
)

// The client for browsers: an ES module with its types, below the base path.

// passkeyScript returns the path of the script that fills in forms for passkeys, as
// browsers know it, or "" if no provider is a WebAuthn.
func (s *setup) passkeyScript(l *links) string {
	if !slices.ContainsFunc(s.order, func(p preparedProvider) bool { return p.info().kind == TypeWebAuthn }) {
		return ""
	}
	return l.path("client/" + client.Name(client.Passkeys))
}

// showClient answers GET /client/FILE with a script or its types, gzipped if h accepts that,
// or with status 304 if the browser has the file. An unknown file is ErrUnknownAction.
func showClient(h http.Header, file string) (*Response, error) {
	f, fixed := client.Find(file)
	if f == nil {
		return nil, badRequestFor("the client has no such file")
	}
	res := &Response{Status: http.StatusOK, Body: f.Body, Header: http.Header{
		"Content-Type": {f.Type}, "X-Content-Type-Options": nosniff, "Vary": {"Accept-Encoding"},
		"Cache-Control": {"no-cache"}, "Etag": {f.Tag},
	}}
	if fixed {
		res.Header["Cache-Control"] = []string{"public, max-age=31536000, immutable"}
	}
	if acceptsGzip(h) {
		res.Body = f.Zipped
		res.Header["Content-Encoding"] = []string{"gzip"}
		res.Header["Etag"] = []string{"W/" + f.Tag}
	}
	if strings.Contains(h.Get("If-None-Match"), f.Tag) {
		return &Response{Status: http.StatusNotModified, Header: res.Header}, nil
	}
	return res, nil
}

// acceptsGzip reports whether Accept-Encoding names gzip (RFC 9110, section 12.5.3). A
// wildcard does not count.
func acceptsGzip(h http.Header) bool {
	for coding := range strings.SplitSeq(strings.Join(h["Accept-Encoding"], ","), ",") {
		name, params, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		weight, given := strings.CutPrefix(strings.TrimSpace(params), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err == nil && q > 0
	}
	return false
}
