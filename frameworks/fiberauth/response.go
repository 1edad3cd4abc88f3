package fiberauth

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// send answers c with res and the renewal of the session. A zero Status is 200, or 302
// for a redirect. It returns errOver if the handler of c has returned already.
func (a *Auth) send(ctx context.Context, c fiber.Ctx, res *latchkey.Response) error {
	if isOver(c) {
		return errOver
	}
	a.renew(ctx, c)
	addHeader(c, res.Header)
	addCookies(c, res.Cookies)
	status := res.Status
	if res.Redirect != "" {
		c.Response().Header.Set(fiber.HeaderLocation, res.Redirect)
		if status == 0 {
			status = fiber.StatusFound
		}
	}
	if status == 0 {
		status = fiber.StatusOK
	}
	c.Response().SetBody(res.Body) // a copy: middleware may change it
	c.Status(status)
	return nil
}

// decide adds cookies, "Vary: Cookie" and the renewal of the session to the response.
// The cookies replace those of the renewal with the same names. It returns errOver if
// the handler of c has returned already.
func (a *Auth) decide(ctx context.Context, c fiber.Ctx, cookies []*http.Cookie) error {
	if isOver(c) {
		return errOver
	}
	a.renew(ctx, c)
	addVary(c, fiber.HeaderCookie)
	addCookies(c, cookies)
	return nil
}

// next calls handler, and then adds the renewal of the session, if that was read. Fiber
// sends no header before its handlers are done, so a streamed response has it, too. A
// panic of handler goes on after the renewal was added.
func (a *Auth) next(ctx context.Context, c fiber.Ctx, handler func() error) error {
	defer a.renew(ctx, c)
	return handler()
}

// renew adds the renewal of the session (Set-Cookie, Vary, Cache-Control) to the
// response. It leaves out cookies that the response sets or clears already. It
// does nothing after the handler of c has returned, or if a timeout has answered in
// place of the handler.
func (a *Auth) renew(ctx context.Context, c fiber.Ctx) {
	if c.IsAbandoned() || isOver(c) { // a handler that took too long has it still
		return
	}
	header := a.core.Renewal(ctx)
	if lines := header[fiber.HeaderSetCookie]; len(lines) > 0 {
		header[fiber.HeaderSetCookie] = slices.DeleteFunc(lines, func(line string) bool { return isDecided(c, line) })
	}
	addRenewal(c, header)
}

// isDecided reports whether the response sets or clears the cookie of line, a Set-Cookie, or
// any piece of that cookie, such as name.0. It ignores the prefixes __Host- and __Secure-.
func isDecided(c fiber.Ctx, line string) bool {
	name, _, _ := strings.Cut(line, "=")
	name = stem(name)
	for given := range c.Response().Header.Cookies() {
		if stem(string(given)) == name {
			return true
		}
	}
	return false
}

// stem returns the name of a cookie without its prefix and the numbers of pieces.
func stem(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "__Host-"), "__Secure-")
	for {
		end := strings.LastIndexByte(name, '.')
		if end < 0 || end == len(name)-1 || strings.Trim(name[end+1:], "0123456789") != "" {
			return name
		}
		name = name[:end]
	}
}

// addRenewal adds a renewal to the response, which keeps its own Cache-Control. A response
// with the header Session-Token gets no-store in its place, so that no cache keeps the token
// . A later call repairs what a handler has set since. addRenewal changes header.
func addRenewal(c fiber.Ctx, header http.Header) {
	if len(c.Response().Header.Peek(fiber.HeaderCacheControl)) > 0 {
		delete(header, fiber.HeaderCacheControl)
	}
	addHeader(c, header)
	if len(c.Response().Header.Peek("Session-Token")) > 0 {
		c.Set(fiber.HeaderCacheControl, "private, no-cache, no-store")
	}
}

// addHeader sets the header lines of the response. Vary is added to what the response
// has. A line of Set-Cookie replaces those of the same cookie and its pieces (see
// forget), and the other cookies stay.
func addHeader(c fiber.Ctx, header http.Header) {
	to := &c.Response().Header
	for name, lines := range header {
		switch name {
		case fiber.HeaderVary:
			for _, line := range lines {
				addVary(c, line)
			}
			continue
		case fiber.HeaderSetCookie:
			for _, line := range lines {
				given, _, _ := strings.Cut(line, "=")
				forget(c, given)
			}
		default:
			to.Del(name)
		}
		for _, line := range lines {
			to.Add(name, line)
		}
	}
}

// addVary adds a line of Vary, unless the response has the same line.
func addVary(c fiber.Ctx, line string) {
	to := &c.Response().Header
	for _, given := range to.PeekAll(fiber.HeaderVary) {
		if string(given) == line {
			return
		}
	}
	to.Add(fiber.HeaderVary, line)
}

// forget removes the lines of Set-Cookie for a cookie and its pieces from the response.
func forget(c fiber.Ctx, name string) {
	var given []string
	for key := range c.Response().Header.Cookies() {
		if stem(string(key)) == stem(name) {
			given = append(given, string(key))
		}
	}
	for _, key := range given {
		c.Response().Header.DelCookie(key)
	}
}

// addCookies puts cookies into the response, in place of its lines of Set-Cookie for
// the same cookies and their pieces. A cookie with an invalid name is left out.
func addCookies(c fiber.Ctx, cookies []*http.Cookie) {
	for _, k := range cookies {
		forget(c, k.Name)
	}
	for _, k := range cookies {
		if line := k.String(); line != "" {
			c.Response().Header.Add(fiber.HeaderSetCookie, line)
		}
	}
}
