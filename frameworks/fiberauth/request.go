package fiberauth

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
	"github.com/valyala/fasthttp"
)

// latest is a request as long as it is the latest of its connection: fasthttp
// closes what it finds among the values of a request before it reads the next one
// into the same memory.
type latest struct {
	mu     sync.Mutex
	from   *fasthttp.RequestCtx // nil: it is over
	copied *latchkey.Request    // nil: not needed yet
}

type latestKey struct{}

// latestOf finds or makes the latest of c.
func latestOf(c fiber.Ctx) *latest {
	from := c.RequestCtx()
	l, ok := from.UserValue(latestKey{}).(*latest)
	if !ok {
		l = &latest{from: from}
		from.SetUserValue(latestKey{}, l)
	}
	return l
}

// Close says that the request is over.
func (l *latest) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from = nil
	return nil
}

// request is a copy of the head of the request, made once; nil: it is over, and was
// not asked for before. It may be called from any goroutine.
func (l *latest) request() *latchkey.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.copied == nil && l.from != nil {
		l.copied = headOf(l.from)
	}
	return l.copied
}

// head returns the request of a handler. Fiber may have rewritten its path since it came.
func (l *latest) head(c fiber.Ctx) *latchkey.Request {
	r, uri := l.request(), c.Request().URI()
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
		RemoteAddr: from.RemoteAddr().String(), TLS: from.IsTLS(),
	}
}

// cookiesAsSent are the cookies before fasthttp took off their quotes. nil:
// middleware, such as Fiber's encryptcookie, has changed them since.
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

// namedCookies is the Cookie header of now without cookies that have no name. fasthttp
// writes "=name=value" as "name=value", and any host of the site, and any on plain
// http, may set such a cookie for all of them, whatever prefix the name has.
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

// hostOf is the host that a request is for: the one of an absolute target wins
// over the header (RFC 9112, section 3.2.2).
func hostOf(from *fasthttp.RequestCtx) string {
	if target := from.Request.Header.RequestURI(); len(target) > 0 && target[0] != '/' {
		if u, err := url.ParseRequestURI(string(target)); err == nil && u.Host != "" {
			return u.Host
		}
	}
	return string(from.Request.Header.Host())
}

// urlOf is the path and query of a request, as they came, or as Fiber has
// rewritten them. A path that is none is not decoded.
func urlOf(uri *fasthttp.URI) *url.URL {
	path := string(uri.PathOriginal())
	u, err := url.ParseRequestURI(path)
	if err != nil || u.Host != "" {
		u = &url.URL{Path: path}
	}
	u.RawQuery = string(uri.QueryString())
	return u
}

// withBody is the request of c with its body. A response: the body cannot be read.
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

// wholeBody reads a body that Fiber has read already, and copies it only
// when it is asked for. One that was announced and is not there was too large for Fiber, which
// runs middleware for such requests, too.
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
