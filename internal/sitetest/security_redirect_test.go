package sitetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// landsOn is the origin at which a browser ends up that is sent from a page of
// base to location, by the rules of the WHATWG URL standard as far as they say
// origins apart. It is "" where a browser goes nowhere, and the scheme alone
// for schemes without origins.
func landsOn(base, location string) string {
	s := strings.TrimFunc(location, func(r rune) bool { return r <= ' ' })
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	scheme, rest, ok := cutScheme(s)
	baseScheme, _, _ := strings.Cut(base, ":")
	switch {
	case !ok:
		return landsRelative(base, baseScheme, s)
	case scheme != "http" && scheme != "https" && scheme != "ftp" && scheme != "ws" && scheme != "wss":
		return scheme + ":"
	case scheme == baseScheme && !strings.HasPrefix(rest, "//"):
		return landsRelative(base, baseScheme, rest)
	}
	return authorityOrigin(scheme, strings.TrimLeft(rest, `/\`))
}

func landsRelative(base, scheme, s string) string {
	if len(s) >= 2 && isSlash(s[0]) && isSlash(s[1]) {
		return authorityOrigin(scheme, strings.TrimLeft(s, `/\`))
	}
	return base
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		c := s[i] | 0x20
		switch {
		case c >= 'a' && c <= 'z', i > 0 && (s[i] >= '0' && s[i] <= '9' || s[i] == '+' || s[i] == '-' || s[i] == '.'):
		case i > 0 && s[i] == ':':
			return strings.ToLower(s[:i]), s[i+1:], true
		default:
			return "", "", false
		}
	}
	return "", "", false
}

// authorityOrigin reads the authority that s begins with.
func authorityOrigin(scheme, s string) string {
	if i := strings.IndexAny(s, `/\?#`); i >= 0 {
		s = s[:i]
	}
	s = s[strings.LastIndexByte(s, '@')+1:]
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	var host strings.Builder
	for _, r := range s {
		switch {
		case r >= 0xFF01 && r <= 0xFF5E: // full-width forms are the plain ones
			host.WriteRune(r - 0xFEE0)
		case r == '。' || r == '．' || r == '｡':
			host.WriteByte('.')
		case r == 0xAD || r == 0x200B || r == 0x2060 || r == 0xFEFF: // ignored
		default:
			host.WriteRune(r)
		}
	}
	name := strings.ToLower(host.String())
	if name == "" || strings.ContainsAny(name, " #%/<>?@\\^|\x00") {
		return ""
	}
	name = strings.TrimSuffix(name, map[string]string{"http": ":80", "https": ":443"}[scheme])
	return scheme + "://" + strings.TrimSuffix(name, ":")
}

func TestLandsOn(t *testing.T) {
	const here = "https://app.example"
	for location, want := range map[string]string{
		"/a": here, "a": here, "": here, "?x": here, "#x": here, "https:a": here, "https:/a": here, "/.//evil.example": here, "/%09/evil.example": here,
		"//evil.example": "https://evil.example", `/\evil.example`: "https://evil.example", `\\evil.example`: "https://evil.example",
		"/\t/evil.example": "https://evil.example", "ht\ntps://evil.example": "https://evil.example", " \x00//evil.example": "https://evil.example",
		"https:evil.example": here, "http:evil.example": "http://evil.example", "https:///evil.example": "https://evil.example", `https:\\evil.example`: "https://evil.example",
		"https://app.example@evil.example/": "https://evil.example", `https://evil.example\@app.example`: "https://evil.example",
		"https://APP.example:443/x": here, "https://app.example:8443": here + ":8443", "https://evil.example?@app.example": "https://evil.example",
		"//ｅｖｉｌ.example": "https://evil.example", "//app.example。evil.example": "https://app.example.evil.example", "//%65vil.example": "https://evil.example",
		"javascript:alert(1)": "javascript:", "data:text/html,x": "data:", "java\tscript:x": "javascript:", "https://%00": "", "https://": "",
	} {
		if got := landsOn(here, location); got != want {
			t.Errorf("%q lands on %q, want %q", location, got, want)
		}
	}
}

// hostileURLs are more than a thousand ways to name another origin.
func hostileURLs() []string {
	hosts := []string{
		"evil.example", "app.example.evil.example", "evil.example:443", "app.example@evil.example", "evil.example\\@app.example", "evil.example#@app.example",
		"evil.example?@app.example", "app.example:443@evil.example", "app.example%40evil.example", "app.example%2eevil.example", "app.example%00.evil.example",
		"app.example\t.evil.example", "app.example。evil.example", "ｅｖｉｌ.example", "%65vil.example", "xn--80ak6aa92e.com", "[::ffff:203.0.113.9]", "0xcb007109", "3405803785",
		"app.example.", "app.example:8443", "app.exampleevil.example", "APP.EXAMPLE.EVIL.EXAMPLE", "app.example%0d%0aSet-Cookie:x=y", "app.example\r\nLocation: //evil.example",
		"user:pw@app.example", "app.example%5c.evil.example", "app.example;evil.example", "app.example,evil.example", "evil.example%2f@app.example", "app.example|evil.example",
	}
	starts := []string{
		"//", "///", "////", "/\\", "\\\\", "\\/", "/\t/", "/\n/", "/\r\n/", "/%09/", "/%0a/", "/%5c", "/./\\", "/.//", "/..//", "/;//", " //", "\x00//", "/ /", "\u3000//", "/\u00a0/",
		"https://", "http://", "HTTPS://", "https:", "https:/", "https:///", "https:\\\\", "https:/\\", "ht\ttps://", "https\n://", " https://", "\x01https://", "https://app.example@", "https://app.example.",
		"https://app.example\\@", "https://app.example:x@", "https://app.example%20@", "https://app.example&@", "ftp://", "ws://", "file://", "gopher://", "http:app.example@",
	}
	var all []string
	for _, start := range starts {
		for _, host := range hosts {
			all = append(all, start+host)
		}
	}
	for _, scheme := range []string{"javascript:", "JaVaScRiPt:", "java\tscript:", "\x00javascript:", " javascript:", "javascript://app.example/%0a", "data:", "data:text/html,", "vbscript:", "blob:https://app.example/", "file:///", "about:", "view-source:", "intent://", "mailto:", "tel:", "app:", "httpsx://", "https;//", "x-http://"} {
		all = append(all, scheme+"alert(document.domain)", scheme+"evil.example", scheme+"//app.example/%0aalert(1)")
	}
	return append(all, "", "/", "evil", ".", "..", "?", "#", ":", "://", "https", "https:", "https://", "%", "%zz", "/%zz", "\xff", "/\xff", "null", "[object Object]", "/"+strings.Repeat("a", 9000),
		"https://app.example"+strings.Repeat("a", 9000), "/\r\nSet-Cookie: x=y", "/%0d%0aSet-Cookie:%20x=y", "/\u2028/evil.example", "/a\"onclick=alert(1)//")
}

// spelled is s as it is, encoded once and encoded twice.
func spelled(s string) []string {
	once := url.QueryEscape(s)
	return []string{s, once, url.QueryEscape(once)}
}

// stays fails the test unless an answer, and every URL inside its parameters,
// keeps the browser at home.
func stays(t *testing.T, given string, a *answer) {
	t.Helper()
	to := a.location()
	if to == "" {
		var inBody struct{ URL string }
		if json.Unmarshal(a.Body.Bytes(), &inBody) == nil {
			to = inBody.URL
		}
	}
	if hasLineBreak(to) {
		t.Errorf("%q: the URL %q breaks a header", given, to)
	}
	if got := landsOn(siteOrigin, to); got != siteOrigin {
		t.Errorf("%q: sent to %q, which is at %q", given, to, got)
	}
	if u, err := url.Parse(to); err == nil && u.Query().Has("callbackUrl") {
		if inner := u.Query().Get("callbackUrl"); landsOn(siteOrigin, inner) != siteOrigin {
			t.Errorf("%q: the next page is asked to go to %q", given, inner)
		}
	}
	if c := a.cookie("callback-url"); c != nil && c.Value != "" {
		if kept, err := url.QueryUnescape(c.Value); err != nil || landsOn(siteOrigin, kept) != siteOrigin {
			t.Errorf("%q: the browser is to remember %q", given, c.Value)
		}
	}
}

func hasLineBreak(s string) bool { return strings.ContainsAny(s, "\r\n\x00") }

func TestRedirectCorpus(t *testing.T) {
	corpus := hostileURLs()
	if len(corpus) < 1000 {
		t.Fatalf("%d strings, want 1000", len(corpus))
	}
	unlimited := func(c *latchkey.Config) { c.Limits.Disabled = true }
	ownPages := func(c *latchkey.Config) {
		c.Limits.Disabled = true
		c.Pages = latchkey.Pages{SignIn: "/welcome?x=1#top", SignOut: "/bye", Error: "/oops", VerifyRequest: "/mail", NewUser: "/new"}
	}
	plain, own := newSite(t, unlimited), newSite(t, ownPages)
	entrances := []struct {
		name string
		try  func(s string) *answer
	}{
		{"sign-in, query", func(s string) *answer {
			return plain.newBrowser().post("/auth/callback/crew?callbackUrl="+s, "username", "alice", "password", "wonderland")
		}},
		{"sign-in, form", func(s string) *answer {
			b := plain.newBrowser()
			return b.do(http.MethodPost, "/auth/callback/crew", formContentType, "username=alice&password=wonderland&csrfToken="+b.token()+"&callbackUrl="+s)
		}},
		{"sign-in, form, properly encoded", func(s string) *answer {
			return plain.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland", "callbackUrl", s)
		}},
		{"sign-in, JSON", func(s string) *answer {
			return plain.newBrowser().postJSON("/auth/callback/crew", map[string]any{"username": "alice", "password": "wonderland", "callbackUrl": s})
		}},
		{"sign-in, JSON for scripts", func(s string) *answer {
			b := plain.newBrowser()
			b.header.Set("X-Auth-Return-Redirect", "1")
			return b.postJSON("/auth/callback/crew", map[string]any{"username": "alice", "password": "wonderland", "callbackUrl": s})
		}},
		{"sign-in, cookie", func(s string) *answer {
			b := plain.newBrowser()
			b.token()
			b.jar["__Secure-authjs.callback-url"] = s
			return b.post("/auth/callback/crew", "username", "alice", "password", "wonderland")
		}},
		{"failed sign-in, form", func(s string) *answer {
			return plain.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "?", "callbackUrl", s)
		}},
		{"sign-out, form", func(s string) *answer { return plain.newBrowser().post("/auth/signout", "callbackUrl", s) }},
		{"sign-out, query", func(s string) *answer { return plain.newBrowser().post("/auth/signout?callbackUrl=" + s) }},
		{"magic link, form", func(s string) *answer {
			return plain.newBrowser().post("/auth/signin/post", "email", "a@example.com", "callbackUrl", s)
		}},
		{"unknown provider", func(s string) *answer { return plain.newBrowser().post("/auth/signin/nobody", "callbackUrl", s) }},
		{"own sign-in page", func(s string) *answer { return own.newBrowser().get("/auth/signin?callbackUrl=" + s) }},
		{"own sign-in page, cookie", func(s string) *answer {
			b := own.newBrowser()
			b.jar["__Secure-authjs.callback-url"] = s
			return b.get("/auth/signin")
		}},
		{"own error page", func(s string) *answer { return own.newBrowser().get("/auth/error?error=" + s + "&callbackUrl=" + s) }},
		{"own mail page", func(s string) *answer {
			return own.newBrowser().get("/auth/verify-request?provider=" + s + "&type=" + s + "&callbackUrl=" + s)
		}},
		{"own page for new users", func(s string) *answer {
			b, before := own.newBrowser(), len(own.sent())
			a := b.post("/auth/signin/post", "email", fmt.Sprintf("new%d@example.com", before), "callbackUrl", s)
			if links := own.sent(); len(links) > before {
				a = b.get(strings.TrimPrefix(links[before].URL, siteOrigin))
			}
			return a
		}},
		{"redirectTo of a sign-in", func(s string) *answer {
			return helper(plain, func(w http.ResponseWriter, r *http.Request) error {
				return plain.auth.SignIn(w, r, "crew", latchkey.SignInOptions{RedirectTo: s, Form: url.Values{"username": {"alice"}, "password": {"wonderland"}}})
			})
		}},
		{"redirectTo of a sign-in page", func(s string) *answer {
			return helper(plain, func(w http.ResponseWriter, r *http.Request) error {
				return plain.auth.SignIn(w, r, "", latchkey.SignInOptions{RedirectTo: s})
			})
		}},
		{"redirectTo of a sign-out", func(s string) *answer {
			return helper(plain, func(w http.ResponseWriter, r *http.Request) error {
				return plain.auth.SignOut(w, r, latchkey.SignOutOptions{RedirectTo: s})
			})
		}},
	}
	for _, e := range entrances {
		t.Run("R-124 "+e.name, func(t *testing.T) {
			for _, hostile := range corpus {
				for _, s := range spelled(hostile) {
					a := e.try(s)
					if e.name == "redirectTo of a sign-in page" { // the page itself decides about what it is given
						u, err := url.Parse(a.location())
						if err != nil || landsOn(siteOrigin, a.location()) != siteOrigin {
							t.Fatalf("%q: sent to %q", s, a.location())
						}
						a = own.newBrowser().get("/auth/signin?" + u.RawQuery)
					}
					stays(t, s, a)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// helper runs one of the application's helpers for a browser.
func helper(s *testSite, f func(http.ResponseWriter, *http.Request) error) *answer {
	b := s.newBrowser()
	return b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			http.Error(w, "refused", http.StatusTeapot)
		}
	}), b.request(http.MethodPost, "/own", "", ""))
}

func TestRedirectPaths(t *testing.T) {
	s := newSite(t)
	for given, want := range map[string]string{
		"//h": "//h", `/\h`: "/%5Ch", "/\t/h": "/%09/h", "/%09/h": "/%09/h", `/./\h`: "/./%5Ch", "/a b": "/a%20b", "/a\r\nX: y": "/a%0D%0AX:%20y",
		"/<b>": "/%3Cb%3E", "/\"": "/%22", "/`": "/%60", "/é": "/é", "/a?b=c#d": "/a?b=c#d", "/\x00": "/%00", "/\x7f": "/%7F",
		siteOrigin: "", siteOrigin + "/a": "/a", siteOrigin + "?a": "?a", siteOrigin + `/\h`: "/%5Ch", "https://evil.example/a": "", siteOrigin + ":8443/": "", "http://app.example/": "",
		"https://app.example@evil.example/": "", "https://u@app.example/": "", "/" + strings.Repeat("a", 4000): "",
	} {
		t.Run("R-125 "+given[:min(len(given), 40)], func(t *testing.T) {
			a := s.newBrowser().post("/auth/signout", "callbackUrl", given)
			if a.location() != siteOrigin+want {
				t.Errorf("sent to %q, want %q", a.location(), siteOrigin+want)
			}
		})
	}
	if got := s.newBrowser().post("/auth/signout", "callbackUrl", "HTTPS://APP.example:443/x").location(); landsOn(siteOrigin, got) != siteOrigin || !strings.HasSuffix(got, "/x") {
		t.Errorf("our own origin in capitals leads to %q", got)
	}
}

func TestRedirectSchemes(t *testing.T) {
	for _, s := range []string{"javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "vbscript:x", "blob:https://app.example/1", "file:///etc/passwd", "myapp://callback", "java\nscript:x", "ftp://app.example/", "about:blank"} {
		t.Run("R-127 "+s, func(t *testing.T) {
			site := newSite(t)
			for name, a := range map[string]*answer{
				"form":  site.newBrowser().post("/auth/signout", "callbackUrl", s),
				"query": site.newBrowser().post("/auth/signout?callbackUrl=" + url.QueryEscape(s)),
			} {
				if to := a.location(); to != "" && landsOn(siteOrigin, to) != siteOrigin {
					t.Errorf("%s: sent to %q", name, to)
				}
			}
			b := site.newBrowser()
			b.jar["__Secure-authjs.callback-url"] = url.QueryEscape(s)
			if to := b.post("/auth/signout").location(); to != "" && landsOn(siteOrigin, to) != siteOrigin {
				t.Errorf("cookie: sent to %q", to)
			}
			_, err := latchkey.New(latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Pages: latchkey.Pages{SignIn: s}})
			if err == nil || !strings.Contains(err.Error(), "Pages.SignIn") {
				t.Errorf("configuration: %v", err)
			}
		})
	}
}

func TestRedirectTypes(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.Limits.Disabled = true })
	for name, value := range map[string]any{"object": map[string]any{"href": "/"}, "array": []any{"/a", "/b"}, "number": 7, "null": nil, "boolean": true} {
		t.Run("R-129 "+name, func(t *testing.T) {
			for _, target := range []string{"/auth/signout", "/auth/callback/crew", "/auth/signin/post"} {
				a := s.newBrowser().postJSON(target, map[string]any{"callbackUrl": value, "username": "alice", "password": "wonderland", "email": "a@example.com"})
				if a.Code != http.StatusFound || a.error() != "Configuration" || a.signsIn() {
					t.Errorf("%s: %d to %q", target, a.Code, a.location())
				}
			}
		})
	}
	if !strings.Contains(s.log.text(), "InvalidCallbackUrl") || len(s.sent()) != 0 || s.tried() != 0 {
		t.Error("want InvalidCallbackUrl in the log, and nothing done")
	}
	t.Run("R-129 repeated form fields", func(t *testing.T) {
		b := s.newBrowser()
		a := b.do(http.MethodPost, "/auth/signout", formContentType, "csrfToken="+b.token()+"&callbackUrl=//evil.example&callbackUrl=/last")
		if a.location() != siteOrigin+"/last" {
			t.Errorf("sent to %q, want the last", a.location())
		}
	})
}

func TestRedirectCallback(t *testing.T) {
	for given, want := range map[string]string{
		"https://partner.example/x": "https://partner.example/x", "http://partner.example": "http://partner.example", "/a": siteOrigin + "/a", "//evil.example": siteOrigin + "//evil.example",
		"": siteOrigin, "javascript:alert(1)": siteOrigin, "java\tscript:x": siteOrigin, "data:,x": siteOrigin, "https://partner.example/\r\nX: y": siteOrigin, `https://partner.example\@x`: siteOrigin,
		"https://user@partner.example": siteOrigin, "https:partner.example": siteOrigin, "https:///partner.example": siteOrigin, "relative": siteOrigin, " https://partner.example": siteOrigin,
		`/\evil.example`: siteOrigin + "/%5Cevil.example", "/\t/evil.example": siteOrigin + "/%09/evil.example", "myapp://x": siteOrigin, "https://partner.example/a b": siteOrigin,
	} {
		t.Run("R-130 "+given, func(t *testing.T) {
			var got [2]string
			s := newSite(t, func(c *latchkey.Config) {
				c.Callbacks.Redirect = func(_ context.Context, to, base string) (string, error) {
					got = [2]string{to, base}
					return given, nil
				}
			})
			a := s.newBrowser().post("/auth/signout", "callbackUrl", "/asked")
			if a.location() != want {
				t.Errorf("sent to %q, want %q", a.location(), want)
			}
			if got != [2]string{"/asked", siteOrigin} {
				t.Errorf("the callback got %q", got)
			}
			if replaced := want == siteOrigin; replaced != strings.Contains(s.log.text(), "InvalidCallbackUrl") {
				t.Errorf("logged: %t, want %t", !replaced, replaced)
			}
		})
	}
	for name, callback := range map[string]func(context.Context, string, string) (string, error){
		"error": func(context.Context, string, string) (string, error) { return "", http.ErrAbortHandler },
		"panic": func(context.Context, string, string) (string, error) { panic("no") },
	} {
		t.Run("R-130 "+name, func(t *testing.T) {
			s := newSite(t, func(c *latchkey.Config) { c.Callbacks.Redirect = callback })
			if a := s.newBrowser().post("/auth/signout", "callbackUrl", "/asked"); a.error() != "Configuration" || landsOn(siteOrigin, a.location()) != siteOrigin {
				t.Errorf("sent to %q", a.location())
			}
		})
	}
}

func TestRedirectReferer(t *testing.T) {
	for referer, want := range map[string]string{
		"": "/", "https://app.example": "", "https://app.example/shop?x=1": "/shop?x=1", "https://evil.example/": "/", "https://app.example.evil.example/": "/", "https://app.example@evil.example/": "/",
		"https://app.example:8443/": "/", "http://app.example/": "/", "//evil.example": "/", "javascript:alert(1)": "/", "https://app.example\\.evil.example": "/", "%": "/", "\x00": "/",
		"https://app.example/\\evil.example": "/%5Cevil.example", "https://app.example//evil.example": "//evil.example", "about:blank": "/", "null": "/",
	} {
		t.Run("R-131 "+referer, func(t *testing.T) {
			s := newSite(t)
			for name, act := range map[string]func(http.ResponseWriter, *http.Request) (string, error){
				"SignIn": func(w http.ResponseWriter, r *http.Request) (string, error) {
					return s.auth.SignInURL(w, r, "crew", latchkey.SignInOptions{Form: url.Values{"username": {"alice"}, "password": {"wonderland"}}})
				},
				"SignOut": func(w http.ResponseWriter, r *http.Request) (string, error) {
					return s.auth.SignOutURL(w, r, latchkey.SignOutOptions{})
				},
			} {
				b := s.newBrowser()
				r := b.request(http.MethodPost, "/own", "", "")
				r.Header.Set("Referer", referer)
				b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					to, err := act(w, r)
					if err != nil || to != siteOrigin+want {
						t.Errorf("%s leads to %q, want %q (%v)", name, to, siteOrigin+want, err)
					}
				}), r)
			}
		})
	}
}

func TestRedirectOwnPages(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"/oops", siteOrigin + "/oops?error=%s"},
		{"/oops?lang=de", siteOrigin + "/oops?lang=de&error=%s"},
		{"/oops#top", siteOrigin + "/oops?error=%s#top"},
		{"/oops?lang=de#top?x", siteOrigin + "/oops?lang=de&error=%s#top?x"},
		{"https://help.example/oops", "https://help.example/oops?error=%s"},
	} {
		for _, code := range []string{"AccessDenied", "a&admin=1", "a#b", "a?b", "x\r\nSet-Cookie: y=z", "<script>", "é", "a=b;c"} {
			t.Run("R-133 "+c.page+" "+code, func(t *testing.T) {
				s := newSite(t, func(cfg *latchkey.Config) { cfg.Pages.Error = c.page })
				a := s.newBrowser().get("/auth/error?error=" + url.QueryEscape(code))
				if want := strings.Replace(c.want, "%s", url.QueryEscape(code), 1); a.location() != want {
					t.Errorf("sent to %q, want %q", a.location(), want)
				}
			})
		}
	}
	t.Run("R-133 code and callbackUrl", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) {
			c.Pages = latchkey.Pages{SignIn: "/welcome?a=b#top", NewUser: "/new?a=b#top"}
			c.Providers = append(c.Providers, &latchkey.Credentials{ID: "odd", AccountField: "x", Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{}, latchkey.CredentialsError("x&admin=1#y")
			}})
		})
		if a := s.newBrowser().post("/auth/callback/odd"); a.location() != siteOrigin+"/welcome?a=b&error=CredentialsSignin&code=x%26admin%3D1%23y#top" {
			t.Errorf("sign-in page at %q", a.location())
		}
		b := s.newBrowser()
		b.post("/auth/signin/post", "email", "new@example.com", "callbackUrl", "/a?b=c&d=e#f")
		link := s.sent()[0].URL
		a := b.get(strings.TrimPrefix(link, siteOrigin))
		if want := siteOrigin + "/new?a=b&callbackUrl=" + url.QueryEscape(siteOrigin+"/a?b=c&d=e#f") + "#top"; a.location() != want {
			t.Errorf("new user at %q, want %q", a.location(), want)
		}
	})
}
