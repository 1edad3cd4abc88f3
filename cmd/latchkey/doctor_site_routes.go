package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// routes checks the routes that need no session. It returns false if the route for the
// CSRF token does not answer; other faults it only reports. It sets stamp, jar, csrfToken
// and found.
func (s *siteProbe) routes(ctx context.Context) bool {
	first := s.ask(ctx, siteQuestion{url: s.origin + s.base + "/csrf"})
	s.stamp = first.stamp
	if s.csrfToken = csrfTokenIn(&first); s.csrfToken == "" {
		s.notMounted(ctx, &first)
		return false
	}
	s.strict(first.header)
	if !s.cached(ctx, &first) {
		s.ok("site.routes", "%s answers below %s", quoted(s.origin), quoted(s.base))
	}
	s.cookies(ctx, &first)
	s.urls(ctx)
	return true
}

// csrfTokenIn returns the CSRF token of an answer, or "" if the answer has none.
func csrfTokenIn(a *siteAnswer) string {
	var got struct {
		CSRFToken string `json:"csrfToken"`
	}
	if !a.decode(&got) || len(got.CSRFToken) > 200 {
		return ""
	}
	return got.CSRFToken
}

// notMounted reports why the route for the CSRF token does not answer as it should. It
// asks for that route below other base paths to find out.
func (s *siteProbe) notMounted(ctx context.Context, got *siteAnswer) {
	const what = "site.routes"
	if got.err != nil {
		s.fail(what, "%s: %s. Check that the site runs, and that its proxy reaches it", quoted(s.base+"/csrf"), got.said())
		return
	}
	if got.status == http.StatusBadGateway || got.status == http.StatusServiceUnavailable || got.status == http.StatusGatewayTimeout {
		s.fail(what, "%s answers with %s: the proxy reaches no program. Check that it runs, and read the end of its log: it says why a program has stopped at its start", quoted(s.base+"/csrf"), got.said())
		return
	}
	for _, base := range []string{"/api/auth", "/auth", ""} {
		other := s.ask(ctx, siteQuestion{url: s.origin + base + "/csrf"})
		switch {
		case base == s.base || csrfTokenIn(&other) == "":
		case base == "":
			s.fail(what, "the routes answer without a base path: something in front removes it, such as http.StripPrefix. Let the whole path through")
			return
		default:
			s.fail(what, "the routes are below %s. Ask for --site %s, or set the base path of the site to %s", base, s.origin+base, s.base)
			return
		}
	}
	s.fail(what, "%s answers with %s, not with a CSRF token. Mount the site's handler there, or name the base path as the path of --site", quoted(s.base+"/csrf"), got.said())
}

// cached asks for the CSRF token again, and reports a cache that keeps answers of one
// visitor, or a Cache-Control that was changed on its way. It returns whether it has
// reported one of these.
func (s *siteProbe) cached(ctx context.Context, first *siteAnswer) bool {
	second := s.ask(ctx, siteQuestion{url: s.origin + s.base + "/csrf"})
	hit := second.header.Get("Age") != "" && second.header.Get("Age") != "0"
	for _, name := range []string{"X-Cache", "Cf-Cache-Status", "X-Cache-Status"} {
		hit = hit || strings.Contains(strings.ToUpper(second.header.Get(name)), "HIT")
	}
	if csrfTokenIn(&second) == csrfTokenIn(first) || hit {
		s.fail("site.routes", "two visitors get the same CSRF token: a cache in front keeps what is below %s. Have it pass these paths on", quoted(s.base))
		return true
	}
	if c := first.header.Get("Cache-Control"); !strings.Contains(c, "no-store") && !strings.Contains(c, "private") {
		s.warn("site.routes", "the Cache-Control of the site is gone or changed on its way. Leave it as it is")
		return true
	}
	return false
}

// cookies adds the cookies of an answer to the jar, and checks the one of the CSRF token. If
// that is right, it calls returned, which sends the cookies back.
func (s *siteProbe) cookies(ctx context.Context, first *siteAnswer) {
	const what = "site.cookies"
	var token *http.Cookie
	for _, c := range (&http.Response{Header: first.header}).Cookies() {
		s.jar[c.Name] = c.Value
		if strings.HasSuffix(c.Name, "csrf-token") {
			token = c
		}
	}
	if token == nil {
		s.fail(what, "the answer has a token and no cookie: something in front drops Set-Cookie. Let it through")
		return
	}
	if prefixed := strings.HasPrefix(token.Name, "__Host-") || strings.HasPrefix(token.Name, "__Secure-"); s.secure && (!token.Secure || !prefixed) {
		s.fail(what, "over https the cookies are those of http: the site does not know its scheme. Set AUTH_URL to %s, or have the proxy set X-Forwarded-Proto and trust it", s.origin)
		return
	}
	s.returned(ctx)
}

// mostInstances is how often the cookies are sent back. A proxy that takes turns then
// reaches every one of so many instances.
const mostInstances = 8

// returned sends the cookies in the jar back to the site, mostInstances times at once on
// connections of their own, and reports how many of the answers know them.
func (s *siteProbe) returned(ctx context.Context) {
	const what = "site.cookies"
	var known, foreign atomic.Int64
	var all sync.WaitGroup
	for range mostInstances {
		all.Go(func() {
			back := s.ask(ctx, siteQuestion{url: s.origin + s.base + "/csrf", cookies: s.jar, alone: true})
			switch csrfTokenIn(&back) {
			case s.csrfToken:
				known.Add(1)
			case "":
			default:
				foreign.Add(1)
			}
		})
	}
	all.Wait()
	switch {
	case known.Load() == mostInstances:
		s.ok(what, "set as the scheme wants it, and they come back")
	case known.Load() > 0 && foreign.Load() > 0:
		s.fail(what, "%d of %d requests with the site's own cookie do not know it: instances have different secrets. Give all of them the same; --instances says which one differs", foreign.Load(), mostInstances)
	case known.Load() > 0:
		s.warn(what, "%d of %d requests with the site's own cookie get no answer. Look at the instances one by one with --instances", mostInstances-known.Load(), mostInstances)
	default:
		s.fail(what, "the site does not get its own cookie back: something in front drops or changes Cookie, or instances have different secrets")
	}
}

// urls checks that the session route answers, and by the callback URLs of the providers
// what the site takes for its own address. It sets found.
func (s *siteProbe) urls(ctx context.Context) {
	const what = "site.urls"
	if session := s.ask(ctx, siteQuestion{url: s.origin + s.base + "/session", cookies: s.jar}); session.err != nil || session.status != http.StatusOK {
		s.fail("site.routes", "%s: %s", quoted(s.base+"/session"), session.said())
	}
	list := s.ask(ctx, siteQuestion{url: s.origin + s.base + "/providers"})
	if !list.decode(&s.found) {
		s.fail(what, "%s: %s, not the list of providers", quoted(s.base+"/providers"), list.said())
		return
	}
	for id, p := range s.found {
		if wrong := s.misplaced(p.CallbackURL, "/callback/"+url.PathEscape(id)); wrong != "" {
			s.fail(what, "%s", wrong)
			return
		}
	}
	s.ok(what, "%d providers, all at %s", len(s.found), quoted(s.origin+s.base))
}

// misplaced returns what is wrong with the callback URL of a provider, or "" if it is
// right: the site's origin and base path, and then path.
func (s *siteProbe) misplaced(rawURL, path string) string {
	got, err := url.Parse(rawURL)
	if err != nil || rawURL == "" {
		return "a callback URL is none: " + quoted(rawURL)
	}
	want, _ := url.Parse(s.origin + s.base + path)
	switch {
	case got.Host == want.Host && got.Scheme != want.Scheme:
		return "the site believes that it is " + got.Scheme + ", so providers refuse its redirect_uri. Set AUTH_URL to " + s.origin + ", or have the proxy set X-Forwarded-Proto and trust it"
	case got.Hostname() == want.Hostname() && got.Host != want.Host:
		return "the site believes that its port is " + strconv.Quote(got.Port()) + ". Set AUTH_URL to " + s.origin + ", or have the proxy pass the Host with its port"
	case got.Host != want.Host:
		return "the site believes that it is " + quoted(got.Host) + ". Set AUTH_URL to " + s.origin + ", or have the proxy pass the Host"
	case got.EscapedPath() != want.EscapedPath():
		return "callbacks lead to " + quoted(got.EscapedPath()) + ", and the site answers at " + quoted(want.EscapedPath()) + ". Use one base path on both sides of the proxy"
	}
	return ""
}
