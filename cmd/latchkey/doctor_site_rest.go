package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// signInsAndClock calls signIns and then clock, since clock needs the cookies of a
// sign-in.
func (s *siteProbe) signInsAndClock(ctx context.Context, r *report) {
	s.signIns(ctx, r)
	s.clock(ctx, r)
}

// signIns begins a sign-in at the site for each of its OAuth providers, at most
// mostSignIns. It checks the redirect_uri to which each leads, and that the provider does
// not refuse the request. It ends at the first failure; otherwise it also asks the
// providers, as atProviders does.
func (s *siteProbe) signIns(ctx context.Context, r *report) {
	const what = "site.sign-in"
	tried := 0
	var ends []string
	for _, id := range slices.Sorted(maps.Keys(s.found)) {
		if kind := s.found[id].Type; kind != "oauth" && kind != "oidc" || tried == mostSignIns {
			continue
		}
		tried++
		to, problem := s.begin(ctx, id)
		if problem == "" {
			problem = s.refusal(ctx, to)
		}
		if problem != "" {
			r.fail(what, "%s: %s", quoted(id), problem)
			return
		}
		ends = append(ends, originOf(to))
	}
	switch {
	case s.found == nil: // of which site.urls speaks
		r.warn(what, "not begun: the list of providers could not be read")
		return
	case tried == 0:
		r.ok(what, "there is no OAuth provider to begin at")
		return
	}
	r.ok(what, "%d providers get the site's own redirect_uri. Some show only in a browser that they do not know it", tried)
	s.atProviders(ctx, r, ends)
}

// begin begins a sign-in with the provider id and returns the URL at the provider to
// which it leads. problem says what is wrong; empty: nothing. It sets s.own.
func (s *siteProbe) begin(ctx context.Context, id string) (to, problem string) {
	a := s.askOnce(ctx, siteQuestion{
		method: http.MethodPost, url: s.origin + s.base + "/signin/" + url.PathEscape(id), cookies: s.jar,
		header: http.Header{"X-Auth-Return-Redirect": {"1"}, "Origin": {s.origin}, "Sec-Fetch-Site": {"same-origin"}},
		form:   url.Values{"csrfToken": {s.csrfToken}, "callbackUrl": {s.origin + "/"}},
	})
	var got struct{ URL string }
	if !a.decode(&got) {
		return "", "the sign-in begins with " + a.said()
	}
	s.own = ownStamp(&a)
	u, err := url.Parse(got.URL)
	if err != nil {
		return "", "the sign-in leads to no URL"
	}
	if code := u.Query().Get("error"); code != "" && u.Host == s.host {
		return "", "the sign-in is refused with " + quoted(code) + ". Run latchkey explain with a line of its log"
	}
	back := u.Query().Get("redirect_uri")
	if back == "" {
		return got.URL, "" // a provider that takes it another way
	}
	return got.URL, s.misplaced(back, "/callback/"+url.PathEscape(id))
}

// refusal opens the authorization request at a URL of a provider, and returns what is
// wrong if the provider answers with status 400: mostly, it does not know the redirect_uri.
// It returns "" for any other answer, which may be a page that asks who is there.
func (s *siteProbe) refusal(ctx context.Context, to string) string {
	a := s.askOnce(ctx, siteQuestion{url: to})
	u, err := url.Parse(to)
	if err != nil || a.err != nil || a.status != http.StatusBadRequest {
		return ""
	}
	return "the provider refuses the request with status 400. Register " + quoted(u.Query().Get("redirect_uri")) + " and the client id there to the letter. If another path is registered, change that of AUTH_URL, which is the base path"
}

// atProviders asks each origin of a provider for its discovery document, compares the
// clock with that of this machine, and checks that endpoints are https and that keys can
// be read. An origin without such a document is no failure.
func (s *siteProbe) atProviders(ctx context.Context, r *report, origins []string) {
	const what = "site.providers"
	slices.Sort(origins)
	for _, origin := range slices.Compact(origins) {
		a := s.askOnce(ctx, siteQuestion{url: origin + "/.well-known/openid-configuration"})
		if a.err != nil {
			r.warn(what, "%s cannot be asked from here: %s", quoted(origin), a.said())
			continue
		}
		s.judgeClock(r, what, "the clock of "+quoted(origin), a.stamp)
		var m struct {
			Issuer string `json:"issuer"`
			Token  string `json:"token_endpoint"`
			Keys   string `json:"jwks_uri"`
		}
		switch {
		case !a.decode(&m):
		case strings.HasPrefix(origin, "https://") && (strings.HasPrefix(m.Token, "http://") || strings.HasPrefix(m.Keys, "http://")):
			r.fail(what, "%s publishes an endpoint without TLS. Ask the provider", quoted(origin))
		case m.Keys != "" && !s.hasKeys(ctx, m.Keys):
			r.fail(what, "the keys of %s cannot be read, so no ID token can be verified. Ask the provider", quoted(origin))
		default:
			r.ok(what, "%s publishes endpoints and keys", quoted(origin))
		}
	}
}

// hasKeys reports whether a JSON Web Key Set with at least one key is at a URL.
func (s *siteProbe) hasKeys(ctx context.Context, rawURL string) bool {
	a := s.askOnce(ctx, siteQuestion{url: rawURL})
	var set struct{ Keys []json.RawMessage }
	return a.decode(&set) && len(set.Keys) > 0
}

// forged sends headers that only a proxy should set, and reports the first that changes
// what the site takes for its own address.
func (s *siteProbe) forged(ctx context.Context, r *report) {
	const what, foreign = "site.headers", "doctor.invalid"
	scheme := s.otherScheme()
	for _, try := range []struct {
		name   string
		header http.Header
		host   string
		cure   string
	}{
		{"X-Forwarded-Host", http.Header{"X-Forwarded-Host": {foreign}}, "", "Have the proxy set it itself"},
		{"X-Forwarded-Proto", http.Header{"X-Forwarded-Proto": {scheme}}, "", "Have the proxy set it itself"},
		{"Forwarded", http.Header{"Forwarded": {"host=" + foreign + ";proto=" + scheme}}, "", "Have the proxy remove it"},
		{"Host", nil, foreign, "Have the proxy answer to no other name than the site's"},
	} {
		a := s.askOnce(ctx, siteQuestion{url: s.origin + s.base + "/providers", header: try.header, host: try.host})
		var list map[string]siteProvider
		if !a.decode(&list) { // refused, or another site of the server
			continue
		}
		for _, p := range list {
			u, err := url.Parse(p.CallbackURL)
			if err == nil && (u.Hostname() == foreign || try.host == "" && u.Scheme == scheme) {
				r.fail(what, "a visitor's %s is believed. %s, or set AUTH_URL to %s", try.name, try.cure, s.origin)
				return
			}
		}
	}
	r.ok(what, "forged headers change nothing; whether X-Forwarded-For is believed cannot be told from here")
}

// otherScheme returns the scheme that the site does not take for its own, http or https,
// when nothing is forged. It reads the callback URLs of s.found, since the site need not
// know by which scheme it is asked.
func (s *siteProbe) otherScheme() string {
	isSecure := s.secure
	for _, p := range s.found {
		isSecure = strings.HasPrefix(p.CallbackURL, "https:")
	}
	return map[bool]string{true: "http", false: "https"}[isSecure]
}

// sizes sends cookies of 4, 8 and 16 KB to the site, and reports the first size that it
// or a proxy refuses.
func (s *siteProbe) sizes(ctx context.Context, r *report) {
	const what, piece = "site.sizes", 3800
	for _, kilobytes := range []int{4, 8, 16} {
		large := maps.Clone(s.jar)
		for left, n := kilobytes<<10, 0; left > 0; left, n = left-piece, n+1 {
			large[fmt.Sprintf("doctor-filler-%d", n)] = strings.Repeat("x", min(left, piece))
		}
		a := s.askOnce(ctx, siteQuestion{url: s.origin + s.base + "/session", cookies: large})
		if a.err == nil && a.status == http.StatusOK {
			continue
		}
		text := fmt.Sprintf("cookies of %d KB are answered with %s. Raise %s", kilobytes, a.said(), bufferOf(a.header.Get("Server")))
		switch kilobytes {
		case 4:
			r.fail(what, "%s: sessions do not fit", text)
		case 8:
			r.warn(what, "%s, or keep sessions below 4 KB", text)
		default:
			r.ok(what, "cookies of 8 KB come through, and those of 16 KB do not")
		}
		return
	}
	r.ok(what, "cookies of 16 KB come through; how many Set-Cookie lines do cannot be told from here")
}

// bufferOf returns the name of the setting that bounds the headers of a request, for a
// server with this Server header.
func bufferOf(server string) string {
	switch server = strings.ToLower(server); {
	case strings.Contains(server, "nginx"), strings.Contains(server, "openresty"):
		return "large_client_header_buffers"
	case strings.Contains(server, "apache"):
		return "LimitRequestFieldSize"
	case strings.Contains(server, "haproxy"):
		return "tune.bufsize"
	}
	return "the bound of request headers in front of the site, which is large_client_header_buffers in nginx and tune.bufsize in HAProxy"
}

// healthAt reports whether the health route of an instance at a URL answers with status
// 200, and whether the clock of the instance is right.
func (s *siteProbe) healthAt(ctx context.Context, r *report, rawURL string) {
	a := s.ask(ctx, siteQuestion{url: rawURL})
	if a.err != nil || a.status != http.StatusOK {
		r.fail("site.health", "not ready: %s. Look at the log of the instance", a.said())
		return
	}
	if s.judgeClock(r, "site.health", "it is ready, but the clock of the instance", a.stamp) {
		r.ok("site.health", "ready, and its clock is right")
	}
}

// compare asks the instances of a site one by one with the cookies of the site, as their
// proxy would. It reports an instance that does not open the cookies, because its secret
// is another one, or whose clock is off.
func (s *siteProbe) compare(ctx context.Context, r *report, instances []string) {
	const what = "site.instances"
	through := http.Header{"X-Forwarded-Host": {s.host}, "X-Forwarded-Proto": {strings.SplitN(s.origin, ":", 2)[0]}}
	for _, address := range instances {
		name := quoted(originOf(address))
		a := s.askOnce(ctx, siteQuestion{url: strings.TrimRight(address, "/") + s.base + "/csrf", host: s.host, header: through.Clone(), cookies: s.jar})
		switch token := csrfTokenIn(&a); {
		case token == "":
			r.fail(what, "%s: %s", name, a.said())
		case token != s.csrfToken:
			r.fail(what, "%s does not know the cookies of the site: its secret is another one. Give all instances the same secrets", name)
		case s.judgeClock(r, what, "the clock of "+name, a.stamp):
			r.ok(what, "%s has the secret of the site", name)
		}
	}
}
