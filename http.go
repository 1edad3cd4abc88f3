package latchkey

import (
	"io"
	"iter"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/cookie"
	"github.com/latchkeyhq/latchkey/internal/lateheader"
)

// Request is an HTTP request, free of any web framework.
type Request struct {
	hidden

	Method     string
	URL        *url.URL    // never nil; path and query count; scheme and host are only used where Host is empty
	Host       string      // the Host header
	Header     http.Header // never nil
	Body       []byte
	RemoteAddr string // IP address of the connection's other end, with or without port
	TLS        bool   // the connection itself is encrypted
	Target     string // what the client asked for, before handlers rewrote the path, as in http.Request.RequestURI; empty: URL has it
}

// Response is the answer to a [Request].
type Response struct {
	hidden

	Status   int         // 0: 302 with Redirect, else 200
	Header   http.Header // may be nil
	Cookies  []*http.Cookie
	Redirect string // where to send the browser; empty: nowhere
	Body     []byte

	sharesHeader bool // Header is that of many answers: see ownHeader
}

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"

	defaultBodyLimit = 1 << 20
	formBodyLimit    = 64 << 10
)

// FromHTTP returns r as a Request. It reads the body, except that of a GET or HEAD. The
// limit of 1 MiB, and 64 KiB for forms, is fixed: [Core.ReadBody] has the configured one.
// A larger body is ErrBodyTooLarge; answer it with status 413 and close the connection.
// Any other error is one of reading the body. With an error the Request is complete but
// for its body.
func FromHTTP(r *http.Request) (*Request, error) {
	req := requestHead(r)
	return req, req.readBody(r.Body, r.ContentLength, defaultBodyLimit)
}

// readBody reads the body of r from a reader, up to limit bytes, or 64 KiB for a form. It
// returns ErrBodyTooLarge for a longer body, and the errors of the reader. A GET or HEAD
// gets no body. length is the announced length of the body; less than 0: unknown.
func (r *Request) readBody(from io.Reader, length int64, limit int) error {
	if from == nil || from == http.NoBody || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if mediaType(r.Header.Get("Content-Type")) == formType {
		limit = min(limit, formBodyLimit)
	}
	if length > int64(limit) {
		return ErrBodyTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if err != nil {
		return err
	}
	if len(body) > limit {
		return ErrBodyTooLarge
	}
	r.Body = body
	return nil
}

// requestHead returns r as a Request without its body. The two share URL and Header.
func requestHead(r *http.Request) *Request {
	return &Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr, TLS: r.TLS != nil, Target: r.RequestURI}
}

// Send writes the response to w, so nothing may be written before. It adds to the Vary of
// w.Header(), replaces cookies of the same names there and keeps the others, and replaces
// any other header that r has.
func (r *Response) Send(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range r.Header {
		switch name {
		case "Vary": // what a handler around this one depends on counts, too
			lateheader.Vary(h, values)
		case "Set-Cookie": // and so do other cookies
			lateheader.Decide(h, values...)
		default:
			h[name] = values
		}
	}
	decideCookies(h, r.Cookies)
	status := r.Status
	if r.Redirect != "" {
		h["Location"] = []string{r.Redirect}
		if status == 0 {
			status = http.StatusFound
		}
	}
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	if len(r.Body) > 0 {
		_, _ = w.Write(r.Body) // the client is gone
	}
}

// decideCookies adds cookies to a response header, and removes what the header has set
// for cookies of the same names. It leaves out cookies that are malformed.
func decideCookies(h http.Header, cookies []*http.Cookie) {
	lateheader.Decide(h, cookie.Lines(cookies...)...)
}

// addRenewal adds cookies that renew a session to a response header, except for those
// whose names the header has set or cleared already.
func addRenewal(h http.Header, cookies []*http.Cookie) {
	given := h["Set-Cookie"]
	for _, c := range cookies {
		if !lateheader.Decides(given, c.Name) {
			h["Set-Cookie"] = append(h["Set-Cookie"], cookie.Lines(c)...)
		}
	}
}

// formPairs yields the names and values of a form in order, as url.ParseQuery reads them,
// without a list for each name. It leaves out malformed pairs.
func formPairs(body string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for pair := range strings.SplitSeq(body, "&") {
			name, value, _ := strings.Cut(pair, "=")
			name, badName := url.QueryUnescape(name)
			value, badValue := url.QueryUnescape(value)
			if pair == "" || strings.Contains(pair, ";") || badName != nil || badValue != nil {
				continue
			}
			if !yield(name, value) {
				return
			}
		}
	}
}

// mediaType returns the type that a Content-Type header names, without parameters, or ""
// if the header is malformed.
func mediaType(header string) string {
	switch header { // what browsers send
	case formType, jsonType:
		return header
	}
	t, _, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return t
}

// asGet returns a copy of r that is a GET without a body.
func asGet(r *Request) *Request {
	get := *r
	get.Method, get.Body = http.MethodGet, nil
	return &get
}

// judgedBy are the headers that tell which session a request has, and at which site.
var judgedBy = []string{"Cookie", "Authorization", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For"}

// isAlike reports whether two requests have the same host, the same credentials and the
// same client. With all, it compares all headers instead, and not the client. Two
// requests for one host that share one header map are alike. The paths are not compared.
func isAlike(a, b *Request, all bool) bool {
	switch {
	case a.Host != b.Host:
		return false
	case isSameMap(a.Header, b.Header):
		return true
	case all:
		return maps.EqualFunc(a.Header, b.Header, slices.Equal)
	}
	for _, name := range judgedBy {
		if !slices.Equal(a.Header[name], b.Header[name]) {
			return false
		}
	}
	return a.RemoteAddr == b.RemoteAddr && a.TLS == b.TLS
}

// urlPath returns the path of a URL, or "" for nil.
func urlPath(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Path
}

// isAtPath reports whether path is the path of r. isSame says that r was made of the request
// at path: then a handler may have taken a prefix off, and the end of path suffices.
func isAtPath(path string, r *Request, isSame bool) bool {
	at := urlPath(r.URL)
	return at == path || isSame && strings.HasSuffix(path, at)
}

// isSameMap reports whether a and b are one and the same map.
func isSameMap(a, b http.Header) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}
