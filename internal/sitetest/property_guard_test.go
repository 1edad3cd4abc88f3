package sitetest

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
)

// seen is a URL as a browser, or a client that writes whatever it likes, asks for it.
type seen struct{ scheme, host, path, query string }

func (u seen) String() string { return u.scheme + "://" + u.host + u.path + "?" + u.query }

// guardWorld is a site whose program serves several hosts, with a guard somewhere below
// handlers that take a part off the path, and behind proxies that may do so, too.
type guardWorld struct {
	t       *testing.T
	random  *rand.Rand
	config  latchkey.Config
	auth    *latchkey.Auth
	guard   http.Handler
	reached bool

	atProxy bool     // Site.Prefix is taken off by a proxy; false: by http.StripPrefix
	endsTLS bool     // the proxy speaks http with the program
	strips  []string // what handlers in front of the guard take off beside Site.Prefix
}

// newGuardWorld returns a site at random, or nil if New refuses it.
func newGuardWorld(t *testing.T, random *rand.Rand) *guardWorld {
	w := &guardWorld{t: t, random: random, atProxy: random.IntN(2) == 0, endsTLS: random.IntN(2) == 0}
	c := &w.config
	c.Secrets, c.Runtime.Logger = []string{siteSecret}, slog.New(slog.DiscardHandler)
	c.Providers = []latchkey.Provider{&latchkey.Email{From: "hello@app.example", Send: func(context.Context, latchkey.Message) error { return nil }}}
	c.Adapter = memoryadapter.New(memoryadapter.Options{})
	c.Site.Prefix = oneOf(random, []string{"", "", "", "/app"})
	switch random.IntN(4) {
	case 0, 1:
		c.Site.URL = oneOf(random, []string{"https://app.example", "https://app.example:8443", "http://app.example", "https://APP.example:443"})
	case 2:
		c.Site.AllowedHosts = oneOf(random, [][]string{{"app.example", "admin.example"}, {"*.example"}, {"*"}, {"app.example", "login.example", "app.example:8443"}})
	}
	c.Site.TrustHost = random.IntN(3) == 0 || c.Site.URL == "" && c.Site.AllowedHosts == nil
	page := func() string {
		path := oneOf(random, []string{"/", "/login", "/login/", "/a://b", "/a%2Fb", "/l%6Fgin", "//login", "/x/../login", "/x/%2e%2e/login", "/login?view=in", "/?view=in", "/app/login", "/login#top", "/läge"})
		if random.IntN(3) > 0 {
			return path
		}
		return oneOf(random, []string{"https://app.example", "https://APP.example", "https://app.example:443", "https://app.example:8443", "http://app.example", "https://login.example", "https://admin.example"}) + path
	}
	c.Pages.SignIn = page()
	for _, other := range []*string{&c.Pages.SignOut, &c.Pages.Error, &c.Pages.VerifyRequest, &c.Pages.NewUser, &c.Pages.Reauth, &c.Pages.Password, &c.Pages.Factor, &c.Pages.Invite} {
		if random.IntN(4) == 0 {
			*other = page()
		}
	}
	auth, err := latchkey.New(c.WithEnv(func(string) string { return "" }))
	if err != nil {
		if !strings.Contains(err.Error(), "Pages.") { // a dot segment, or a second slash, that New refuses
			t.Fatal(err)
		}
		return nil
	}
	w.auth = auth
	w.guard = auth.RequireSession(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { w.reached = true }))
	for range random.IntN(3) { // not Site.Prefix once more: nothing tells who took it off
		w.strips = append(w.strips, oneOf(random, []string{"/admin", "/login", "/a:", "/x"}))
	}
	for _, part := range slices.Backward(w.strips) {
		w.guard = http.StripPrefix(part, w.guard)
	}
	if !w.atProxy && c.Site.Prefix != "" {
		w.guard = http.StripPrefix(c.Site.Prefix, w.guard)
	}
	return w
}

// ask has a client without a session ask for a URL. It returns whether the guarded
// handler was reached, and the answer; nil: no such request arrives there.
func (w *guardWorld) ask(u seen) (bool, *httptest.ResponseRecorder) {
	target := u.path
	if prefix := w.config.Site.Prefix; w.atProxy && prefix != "" {
		rest, ok := strings.CutPrefix(target, prefix)
		if !ok || rest == "" || rest[0] != '/' {
			return false, nil
		}
		target = rest
	}
	if u.query != "" {
		target += "?" + u.query
	}
	if w.random.IntN(10) == 0 && strings.HasPrefix(target, "/") { // as clients write it to a proxy
		target = u.scheme + "://" + u.host + target
	}
	at, err := url.ParseRequestURI(target)
	if err != nil {
		return false, nil
	}
	r := &http.Request{Method: http.MethodGet, URL: at, Host: u.host, Header: http.Header{}, RequestURI: target, RemoteAddr: "192.0.2.7:1234", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	switch {
	case w.config.Site.TrustHost:
		r.Header.Set("X-Forwarded-Proto", u.scheme)
		r.Header.Set("X-Forwarded-Host", u.host)
		if w.endsTLS {
			r.Host = "127.0.0.1:3000"
		}
	case u.scheme == "https" && (!w.endsTLS || w.config.Site.URL == ""):
		r.TLS = &tls.ConnectionState{}
	case w.config.Site.URL != "" && !strings.HasPrefix(w.config.Site.URL, u.scheme+":"):
		return false, nil // no request tells it apart from one that came through a proxy that ends TLS
	}
	w.reached = false
	res := httptest.NewRecorder()
	w.guard.ServeHTTP(res, r)
	return w.reached, res
}

// signInPage returns the URL at which a browser ends that is at u and is sent to sign
// in, or false if the site does not answer there.
func (w *guardWorld) signInPage(u seen) (seen, bool) {
	path := ""
	if w.config.Site.Prefix != "" {
		path = w.config.Site.Prefix
	}
	u.path, u.query = path+strings.Join(w.strips, "")+"/guarded/for/certain", ""
	_, res := w.ask(u)
	if res == nil || res.Code != http.StatusFound {
		return seen{}, false
	}
	return browsed(w.t, res.Header().Get("Location")), true
}

// browsed returns a URL as browsers ask for it (WHATWG URL 4.4).
func browsed(t *testing.T, to string) seen {
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	s := seen{u.Scheme, strings.ToLower(u.Host), u.EscapedPath(), u.RawQuery}
	s.host = strings.TrimSuffix(s.host, map[string]string{"https": ":443", "http": ":80"}[s.scheme])
	var path []string
	for _, segment := range strings.Split(s.path, "/")[min(1, len(s.path)):] {
		path = append(path, segment)
		switch strings.ReplaceAll(segment, "%2e", ".") {
		case ".":
			path = path[:len(path)-1]
		case "..":
			path = path[:max(0, len(path)-2)]
		}
	}
	s.path = "/" + strings.Join(path, "/")
	return s
}

// near returns a URL that may look like the page.
func (w *guardWorld) near(page seen) seen {
	u, r := page, w.random
	for range r.IntN(3) {
		switch r.IntN(9) {
		case 0, 1:
			u.host = oneOf(r, []string{"app.example", "admin.example", "login.example", "app.example:8443", "app.example:443", "APP.example", "127.0.0.1:3000"})
		case 2:
			u.scheme = oneOf(r, []string{"http", "https"})
		case 3, 4:
			u.path = w.config.Site.Prefix + strings.Join(w.strips, "") + strings.TrimPrefix(u.path, w.config.Site.Prefix)
		case 5:
			u.path = oneOf(r, []string{"/admin", "/x", "/a:/", "/app"}) + u.path
		case 6:
			u.path += oneOf(r, []string{"/", "//", "/.", "/x/..", "/%2e"})
		case 7:
			u.path = oneOf(r, []string{"/" + u.path, "/x/.." + u.path, "/x/%2E%2e" + u.path, strings.Replace(u.path, "login", "%6Cogin", 1), strings.Replace(u.path, "/", "//", 1), "/guarded"})
		case 8:
			u.query = oneOf(r, []string{"", "view=in", "view=out", "view=in&view=out", "view=in;x", "x=y&view=in"})
		}
	}
	return u
}

// open returns the pages that no guard keeps from visitors: the sign-in page, and those
// that R-704 names. The origin of one that is named by its path is that of the way back.
func (w *guardWorld) open(signIn seen) []seen {
	query, _ := url.ParseQuery(signIn.query)
	back := browsed(w.t, query.Get("callbackUrl"))
	pages, p := []seen{signIn}, &w.config.Pages
	for _, own := range []string{p.SignOut, p.Error, p.VerifyRequest, p.Password, p.Factor, p.Invite} {
		switch {
		case strings.HasPrefix(own, "/"):
			pages = append(pages, browsed(w.t, back.scheme+"://"+back.host+w.config.Site.Prefix+own))
		case own != "":
			pages = append(pages, browsed(w.t, own))
		}
	}
	return pages
}

// isPage reports whether a request for u is one for the page.
func (u seen) isPage(page seen) bool {
	has, _ := url.ParseQuery(u.query)
	wants, _ := url.ParseQuery(page.query)
	for name, values := range wants {
		if name != "callbackUrl" && !slices.Equal(has[name], values) {
			return false
		}
	}
	here := browsed(nil, u.scheme+"://"+u.host) // the case of the host, and its port
	return here.scheme == page.scheme && here.host == page.host && u.path == page.path
}

// TestStrangersReachNoGuardedPage asks at random for URLs that look like the sign-in page
// of sites at random. Without a session the handler behind a guard is reached if
// and only if the URL is exactly the one at which a browser ends that the guard sends to
// sign in, as its redirect says, or another page of the site that R-704 opens. A page may be refused nevertheless if its host is not one
// of the configuration. 6,000 URLs are asked for, times LATCHKEY_STEPS. With one comparison
// taken out it fails at once:
//
//   - of the path before http.StripPrefix (R-646): "https://admin.example/x/l%C3%A4ge
//     passes, and is not the page https://admin.example/l%C3%A4ge";
//   - of the host (R-681): "https://admin.example/login?x=y&view=in passes, and is not the
//     page https://app.example/login?view=in";
//   - of dot segments (R-680): "https://app.example:8443/x/../login passes, and is not the
//     page https://app.example:8443/login".
//
// A part that a proxy takes off and one that a handler takes off look alike, so no handler
// here takes Site.Prefix off a second time. Few sites name their sign-in page by a URL
// that a browser reaches, so the test goes on until enough of these were reached, too.
func TestStrangersReachNoGuardedPage(t *testing.T) {
	seed, steps := race.Steps(t, 6000)
	random := rand.New(rand.NewPCG(seed, 9))
	passed := map[bool]int{}
	enough := func() bool { return passed[true] >= steps/100 && passed[false] >= steps/1000 }
	for asked := 0; asked < steps || asked < 50*steps && !enough(); {
		w := newGuardWorld(t, random)
		if asked++; w == nil {
			continue
		}
		for range 40 {
			asked++
			from := seen{scheme: oneOf(random, []string{"https", "https", "http"}), host: oneOf(random, []string{"app.example", "app.example", "admin.example", "login.example", "app.example:8443"})}
			page, ok := w.signInPage(from)
			if !ok {
				continue
			}
			u := w.near(page)
			if page, ok = w.signInPage(seen{scheme: u.scheme, host: u.host}); !ok {
				continue
			}
			reached, res := w.ask(u)
			if res == nil {
				continue
			}
			if reached && !slices.ContainsFunc(w.open(page), u.isPage) {
				t.Fatalf("R-680 %s passes, and is not the page %s\n%s", u, page, w)
			}
			passed[strings.HasPrefix(w.config.Pages.SignIn, "/")] += map[bool]int{true: 1}[reached]
		}
	}
	if !enough() {
		t.Errorf("R-680 the sign-in page itself passed %d times, by URL %d times: nothing is shown", passed[true], passed[false])
	}
}

func (w *guardWorld) String() string {
	return fmt.Sprintf("Site %+v\nPages %+v\nprefix taken off by a proxy: %t, TLS ended: %t, handlers take off %q", w.config.Site, w.config.Pages, w.atProxy, w.endsTLS, w.strips)
}
