package fiberauth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
	"github.com/valyala/fasthttp"
)

// latest gives access to the latest request of a connection until it is over. fasthttp
// closes every io.Closer among the values of a request before it reads the next request
// into the same memory.
type latest struct {
	mu     sync.Mutex
	from   *fasthttp.RequestCtx // nil: it is over
	copied *latchkey.Request    // nil: not needed yet
}

type latestKey struct{}

// latestOf returns the latest of c, and makes it if there is none yet. After the
// handler of c has returned, it returns a new latest without a request.
func latestOf(c fiber.Ctx) *latest {
	from := c.RequestCtx()
	if from == nil {
		return &latest{}
	}
	l, ok := from.UserValue(latestKey{}).(*latest)
	if !ok {
		l = &latest{from: from}
		from.SetUserValue(latestKey{}, l)
	}
	return l
}

// Close ends the access to the request, and returns nil. request still returns a copy
// that was made before. fasthttp calls it.
func (l *latest) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from = nil
	return nil
}

// errOver reports that a call needs the response of a request that is over: Fiber has
// taken the response back.
var errOver = errors.New("fiberauth: the request is over: call this before the handler returns")

// isOver reports whether Fiber has taken c back, since its handler is done.
func isOver(c fiber.Ctx) bool { return c.RequestCtx() == nil }

// request returns a copy of the request without its body, made once: do not change it.
// It returns nil if the request is over and was not copied before. Any goroutine may
// call it.
func (l *latest) request() *latchkey.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.copied == nil && l.from != nil {
		l.copied = headOf(l.from)
	}
	return l.copied
}

// head returns the request of a handler without its body, with the path that Fiber may
// have rewritten meanwhile. Do not change what it points to. After the handler of c has
// returned, it returns an empty request, which has no session and no host. Only
// the goroutine of the handler may call it.
func (l *latest) head(c fiber.Ctx) *latchkey.Request {
	r := l.request()
	if r == nil || isOver(c) {
		return &latchkey.Request{Method: http.MethodGet, URL: &url.URL{}, Header: http.Header{}}
	}
	uri := c.Request().URI()
	if r.URL.EscapedPath() == string(uri.PathOriginal()) {
		return r
	}
	moved := *r
	moved.URL = urlOf(uri)
	return &moved
}

// headOf copies a request without its body.
func headOf(from *fasthttp.RequestCtx) *latchkey.Request {
	h := &from.Request.Header
	header := make(http.Header, h.Len())
	for name, value := range h.All() {
		key := http.CanonicalHeaderKey(string(name))
		header[key] = append(header[key], string(value))
	}
	delete(header, fiber.HeaderHost) // stands by itself, as in net/http
	if lines := cookiesAsSent(h); lines != nil {
		header[fiber.HeaderCookie] = lines
	} else if len(header[fiber.HeaderCookie]) > 0 {
		header[fiber.HeaderCookie] = []string{namedCookies(h)}
	}
	return &latchkey.Request{
		Method: string(h.Method()), URL: urlOf(from.Request.URI()), Host: hostOf(from), Header: header,
		RemoteAddr: from.RemoteAddr().String(), TLS: from.IsTLS(), Target: string(h.RequestURI()),
	}
}

// cookiesAsSent returns the Cookie lines as they came, before fasthttp took off the
// quotes. It returns nil if there are none, or if middleware, such as Fiber's
// encryptcookie, has changed them.
func cookiesAsSent(h *fasthttp.RequestHeader) (lines []string) {
	var sent fasthttp.RequestHeader
	for name, value := range h.AllInOrder() {
		if strings.EqualFold(string(name), fiber.HeaderCookie) {
			lines = append(lines, string(value))
			sent.AddBytesV(fiber.HeaderCookie, value)
		}
	}
	if !bytes.Equal(sent.Peek(fiber.HeaderCookie), h.Peek(fiber.HeaderCookie)) {
		return nil
	}
	return lines
}

// namedCookies returns the present Cookie header without cookies that have no name.
// fasthttp writes "=name=value" as "name=value". Another host of the site, or one on
// plain http, may set such a cookie for all of them, whatever prefix the name has
//
func namedCookies(h *fasthttp.RequestHeader) string {
	var line []byte
	for name, value := range h.Cookies() {
		if len(name) == 0 {
			continue
		}
		if len(line) > 0 {
			line = append(line, "; "...)
		}
		line = append(append(line, name...), '=')
		line = append(line, value...)
	}
	return string(line)
}

// hostOf returns the host that a request is for. The host of an absolute target wins over
// the header (RFC 9112, section 3.2.2).
func hostOf(from *fasthttp.RequestCtx) string {
	if target := from.Request.Header.RequestURI(); len(target) > 0 && target[0] != '/' {
		if u, err := url.ParseRequestURI(string(target)); err == nil && u.Host != "" {
			return u.Host
		}
	}
	return string(from.Request.Header.Host())
}

// urlOf returns the path and query of a request, as they came or as Fiber has rewritten
// them. A path that is malformed, or that would be read as one with a host, such as
// //x/y, becomes URL.Path undecoded.
func urlOf(uri *fasthttp.URI) *url.URL {
	path := string(uri.PathOriginal())
	u, err := url.ParseRequestURI(path)
	if err != nil || u.Host != "" {
		u = &url.URL{Path: path}
	}
	u.RawQuery = string(uri.QueryString())
	return u
}

// withBody returns the request of c with its body. If the body cannot be read or is too
// large, it also returns the response to send, which is nil otherwise. A body that was
// streamed is put back into c, for the page of a form.
func (a *Auth) withBody(ctx context.Context, c fiber.Ctx, l *latest) (*latchkey.Request, *latchkey.Response) {
	r, from := *l.head(c), c.Request()
	announced := int64(from.Header.ContentLength())
	var body io.Reader
	streamed := from.IsBodyStream()
	if streamed {
		body = from.BodyStream()
	} else {
		body = &wholeBody{of: from, announced: announced}
	}
	refused := a.core.ReadBody(ctx, &r, body, announced)
	if streamed && refused == nil {
		from.SetBody(r.Body) // the page of a form may want to look into it
	}
	return &r, refused
}

// wholeBody is a reader of a body that Fiber has read already. Its first Read asks Fiber for
// the body. Fiber drops a body that is too large and still runs middleware: if a body was
// announced and there is none, Read returns io.ErrUnexpectedEOF.
type wholeBody struct {
	of        *fasthttp.Request
	announced int64
	rest      *bytes.Reader
}

func (b *wholeBody) Read(p []byte) (int, error) {
	if b.rest == nil {
		body := b.of.Body()
		if len(body) == 0 && b.announced > 0 {
			return 0, io.ErrUnexpectedEOF
		}
		b.rest = bytes.NewReader(body)
	}
	return b.rest.Read(p)
}
