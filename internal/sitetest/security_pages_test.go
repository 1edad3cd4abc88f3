package sitetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// markup is what a text must not turn into.
func markup(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../page/testdata/xss.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(all) < 200 {
		t.Fatalf("%d strings, want 200", len(all))
	}
	return all
}

var (
	tagPattern       = regexp.MustCompile(`<(!?/?[A-Za-z][^\s/>]*)((?:[^>"']|"[^"]*"|'[^']*')*)>`)
	attributePattern = regexp.MustCompile(`([^\s=/"'<>]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?`)
)

// skeleton is a page without its texts: elements, the names of their
// attributes, and the schemes of URLs.
func skeleton(page string) string {
	var b strings.Builder
	for _, tag := range tagPattern.FindAllStringSubmatch(page, -1) {
		b.WriteString(strings.ToLower(tag[1]))
		for _, a := range attributePattern.FindAllStringSubmatch(tag[2], -1) {
			b.WriteString(" " + strings.ToLower(a[1]))
			switch strings.ToLower(a[1]) {
			case "href", "src", "action", "formaction", "data", "poster":
				scheme, _, _ := strings.Cut(strings.Trim(a[2], `"'`), ":")
				b.WriteString("=" + scheme)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestSkeleton(t *testing.T) {
	plain := skeleton(`<p class="x">a</p><a href="https://a">`)
	if plain != skeleton(`<p class="<script>">&lt;b></p><a href="https://b?x=javascript:">`) {
		t.Error("a text changes the skeleton")
	}
	for _, changed := range []string{`<p class="x">a<b></p><a href="https://a">`, `<p class="x" onclick=y>a</p><a href="https://a">`, `<p class="x">a</p><a href="javascript:a">`, `<p class=""onload="">a</p><a href="https://a">`} {
		if plain == skeleton(changed) {
			t.Errorf("%s looks harmless", changed)
		}
	}
}

func TestPagesReflectNothing(t *testing.T) {
	site := newSite(t, func(c *latchkey.Config) {
		c.Limits.Disabled = true
		c.AccountPage.Enabled = true
		post := *c.Providers[1].(*latchkey.Email)
		post.ID, post.ConfirmLink = "confirmed", new(true)
		c.Providers = append(c.Providers, &post)
	})
	places := []struct {
		name string
		ask  func(text string) *answer
	}{
		{"error code", func(s string) *answer { return site.newBrowser().get("/auth/error?error=" + url.QueryEscape(s)) }},
		{"sign-in error", func(s string) *answer { return site.newBrowser().get("/auth/signin?error=" + url.QueryEscape(s)) }},
		{"sign-in, every parameter", func(s string) *answer {
			e := url.QueryEscape(s)
			return site.newBrowser().get("/auth/signin?code=" + e + "&csrfToken=" + e + "&providers=" + e + "&theme=" + e + "&url=" + e + "&title=" + e + "&" + e + "=" + e)
		}},
		{"sign-in, callback path", func(s string) *answer {
			return site.newBrowser().get("/auth/signin?callbackUrl=" + url.QueryEscape("/"+s))
		}},
		{"sign-in, cookie", func(s string) *answer {
			b := site.newBrowser()
			b.jar["__Secure-authjs.callback-url"] = url.QueryEscape("/" + s)
			b.jar[csrfCookie] = url.QueryEscape(s) + "%7C" + url.QueryEscape(s)
			b.jar["__Secure-authjs.session-token"] = url.QueryEscape(s)
			return b.get("/auth/signin")
		}},
		{"sign-out", func(s string) *answer {
			return site.newBrowser().get("/auth/signout?callbackUrl=" + url.QueryEscape("/"+s))
		}},
		{"mail sent", func(s string) *answer {
			e := url.QueryEscape(s)
			return site.newBrowser().get("/auth/verify-request?provider=" + e + "&type=" + e + "&email=" + e)
		}},
		{"mail to confirm", func(s string) *answer {
			e := url.QueryEscape(s)
			return site.newBrowser().get("/auth/callback/confirmed?token=" + e + "&email=" + e + "&callbackUrl=" + url.QueryEscape("/"+s))
		}},
	}
	texts := markup(t)
	for _, place := range places {
		t.Run("R-203 "+place.name, func(t *testing.T) {
			plain := place.ask("harmless")
			if plain.Code != http.StatusOK || !strings.Contains(plain.Body.String(), "<main>") {
				t.Fatalf("no page: %d", plain.Code)
			}
			want := skeleton(plain.Body.String())
			for _, s := range texts {
				if got := skeleton(place.ask(s).Body.String()); got != want {
					t.Fatalf("%q changes the page to\n%s\nwant\n%s", s, got, want)
				}
			}
		})
	}
	t.Run("R-203 path, form and answers that are no pages", func(t *testing.T) {
		for _, s := range texts {
			e := url.PathEscape(s)
			for name, a := range map[string]*answer{
				"path":     site.newBrowser().get("/auth/" + e),
				"provider": site.newBrowser().get("/auth/callback/" + e),
				"sign-in":  site.newBrowser().post("/auth/signin/"+e, "callbackUrl", "/"+s),
				"email":    site.newBrowser().post("/auth/signin/post", "email", s),
				"name":     site.newBrowser().post("/auth/callback/crew", "username", s),
				"session":  site.newBrowser().post("/auth/session", "data", s),
			} {
				if strings.Contains(a.Header().Get("Content-Type"), "html") {
					t.Errorf("%q as %s is answered with a page", s, name)
				}
				if strings.Contains(a.Body.String(), "alert(") || strings.ContainsAny(a.location(), "<>\"") {
					t.Errorf("%q as %s is repeated", s, name)
				}
			}
		}
	})
}

func TestPagesProviderTexts(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	var auth *latchkey.Auth
	client := latchkeytest.NewClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { auth.ServeHTTP(w, r) }))
	auth, err := latchkey.New(latchkey.Config{Site: latchkey.Site{URL: client.URL}, Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()}, Providers: []latchkey.Provider{issuer.Provider()}})
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, s := range append([]string{"harmless"}, markup(t)[:40]...) {
		t.Run("R-203 R-010 "+s, func(t *testing.T) {
			issuer.Misbehave(latchkeytest.Misbehaviour{Callback: func(p url.Values) {
				p.Del("code")
				p.Set("error", s)
				p.Set("error_description", s)
				p.Set("error_uri", "javascript:"+s)
			}})
			a := client.TrySignIn(issuer)
			if a.Error() != "OAuthCallbackError" {
				t.Fatalf("error %q", a.Error())
			}
			page := client.Follow(a)
			if want == "" {
				want = skeleton(string(page.Body))
			}
			if skeleton(string(page.Body)) != want || strings.Contains(string(page.Body), s) {
				t.Errorf("the page repeats the provider")
			}
		})
	}
}

func TestPagesIgnoreTheQuery(t *testing.T) {
	s := newSite(t)
	page := func(query string) string {
		b := s.newBrowser()
		b.token()
		body := b.get("/auth/signin?" + query).Body.String()
		return strings.ReplaceAll(body, b.token(), "TOKEN")
	}
	want := page("")
	for _, query := range []string{
		"csrfToken=stolen", "callbackUrl=https://evil.example/", "callbackUrl=//", "providers=x", "theme=dark&theme[brandColor]=red", "url=https://evil.example", "basePath=/x", "title=Pay",
		"email=%22%3E", "email=not+one", "email=a@b.example,c@d.example", "error=", "code=x", "__proto__=x", "html=x", "name=x", "csrfToken[]=x",
	} {
		t.Run("R-204 "+query, func(t *testing.T) {
			got := page(query)
			if query == "callbackUrl=//" {
				got = strings.ReplaceAll(got, `value="https://app.example//"`, `value="https://app.example"`)
			}
			if got != want {
				t.Error("the page differs")
			}
		})
	}
	t.Run("R-204 what may be given", func(t *testing.T) {
		for query, part := range map[string]string{"email=ada@example.com": `value="ada@example.com"`, "callbackUrl=/shop": `value="https://app.example/shop"`, "error=CredentialsSignin": "role=\"alert\""} {
			if !strings.Contains(page(query), part) {
				t.Errorf("%s: the page does not contain %s", query, part)
			}
		}
	})
}

// allPages is one of every page the site has, with an application's logo or
// without.
func allPages(t *testing.T, change ...func(*latchkey.Config)) map[string]*answer {
	t.Helper()
	s := newSite(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Session.Strategy = latchkey.DatabaseSessions
		post := *c.Providers[1].(*latchkey.Email)
		post.ID, post.ConfirmLink = "confirmed", new(true)
		c.Providers = append(c.Providers, &post)
		c.AccountPage.Enabled = true
	}}, change...)...)
	signedIn := s.newBrowser()
	signedIn.post("/auth/signin/post", "email", "a@example.com")
	if a := signedIn.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin)); !a.signsIn() {
		t.Fatal("no sign-in")
	}
	b := s.newBrowser()
	return map[string]*answer{
		"sign-in": b.get("/auth/signin"), "sign-in after an error": b.get("/auth/signin?error=OAuthCallbackError"), "sign-out": b.get("/auth/signout"),
		"error": b.get("/auth/error"), "access denied": b.get("/auth/error?error=AccessDenied"), "configuration": b.get("/auth/error?error=Configuration"),
		"mail sent": b.get("/auth/verify-request"), "confirm": b.get("/auth/callback/confirmed?token=x&email=a@example.com"),
		"account": signedIn.get("/auth/account"), "delete": signedIn.get("/auth/account?do=delete"),
	}
}

func TestPagesHeaders(t *testing.T) {
	for name, a := range allPages(t) {
		t.Run("R-206 R-207 "+name, func(t *testing.T) {
			h := a.Header()
			if !strings.Contains(a.Body.String(), "<main>") {
				t.Fatalf("no page: %d to %q", a.Code, a.location())
			}
			policy := h.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "img-src 'self'"} {
				if !strings.Contains(policy, part) {
					t.Errorf("policy %q lacks %q", policy, part)
				}
			}
			for _, part := range []string{"unsafe", "*", "data:", "http:"} {
				if strings.Contains(strings.Replace(policy, "img-src 'self' data:", "", 1), part) {
					t.Errorf("policy %q allows %q", policy, part)
				}
			}
			if hasForm := strings.Contains(a.Body.String(), "<form "); hasForm != strings.Contains(policy, "form-action 'self' https:;") {
				t.Errorf("R-530 a page with a form: %t, form-action of %q", hasForm, policy)
			}
			for header, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
			} {
				if h.Get(header) != want {
					t.Errorf("%s is %q, want %q", header, h.Get(header), want)
				}
			}
			if p := h.Get("Referrer-Policy"); p != "same-origin" && p != "no-referrer" {
				t.Errorf("Referrer-Policy is %q", p)
			}
			if name == "confirm" && h.Get("Referrer-Policy") != "no-referrer" {
				t.Error("the link may leave in a Referer")
			}
		})
	}
	t.Run("R-207 JSON", func(t *testing.T) {
		s := newSite(t)
		for _, target := range []string{"/auth/providers", "/auth/csrf", "/auth/session", "/auth/unknown"} {
			h := s.newBrowser().get(target).Header()
			if h.Get("Content-Type") != "application/json" || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", target, h)
			}
		}
	})
}

func TestPagesLoadNothing(t *testing.T) {
	elsewhere := regexp.MustCompile(`(?i)(?:src|srcset|poster|data|manifest|background)\s*=\s*["']?\s*(?:https?:)?//|<link|@import|url\(|<iframe|<object|<embed|\son[a-z]+\s*=|<script(?:>| [^>]*src)`)
	for name, a := range allPages(t) {
		t.Run("R-208 "+name, func(t *testing.T) {
			body := strings.Replace(a.Body.String(), `<link rel="icon" href="data:image/svg&#43;xml;base64,`, "", 1)
			if found := elsewhere.FindString(body); found != "" {
				t.Errorf("the page contains %q", found)
			}
		})
	}
	t.Run("R-208 but for the operator's logo", func(t *testing.T) {
		pages := allPages(t, func(c *latchkey.Config) { c.Theme.Logo = "https://static.example/logo.svg" })
		if a := pages["sign-in"]; !strings.Contains(a.Header().Get("Content-Security-Policy"), "img-src 'self' https://static.example") {
			t.Error("the logo is not allowed")
		}
		if a := pages["confirm"]; strings.Contains(a.Header().Get("Content-Security-Policy"), "static.example") || strings.Contains(a.Body.String(), "static.example") {
			t.Error("the page with the link's secret asks another site")
		}
	})
}

// talkative fails with everything that a browser must not learn.
var errTalkative = errors.New("pq: relation \"users\" does not exist at /srv/app/store.go:17 (host db.internal, latchkey memoryadapter v1.2.3)")

type failingStore struct {
	*memoryadapter.Adapter
	fail func()
}

func (f failingStore) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	f.fail()
	return latchkey.User{}, errTalkative
}

func (f failingStore) GetSessionAndUser(context.Context, string) (storage.StoredSession, latchkey.User, error) {
	f.fail()
	return storage.StoredSession{}, latchkey.User{}, errTalkative
}

func TestPagesSayNothing(t *testing.T) {
	leaked := regexp.MustCompile(`(?i)pq:|relation|/srv|store\.go|goroutine|db\.internal|memoryadapter|v1\.2\.3|panic|runtime|Latchkey|Acme|Crew`)
	for name, fail := range map[string]func(){"error": func() {}, "panic": func() { panic(errTalkative) }} {
		s := newSite(t, func(c *latchkey.Config) {
			c.Adapter = failingStore{memoryadapter.New(memoryadapter.Options{}), fail}
			c.Session.Strategy = latchkey.DatabaseSessions
			c.AccountPage.Enabled = true
			c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { fail(); return errTalkative }
		})
		b := s.newBrowser()
		b.jar["__Secure-authjs.session-token"] = strings.Repeat("a", 64)
		for target, a := range map[string]*answer{
			"session": b.get("/auth/session"), "account": b.get("/auth/account"), "link": b.post("/auth/signin/post", "email", "a@example.com"),
			"used link": b.get("/auth/callback/post?token=x&email=a@example.com"), "credentials": b.post("/auth/callback/crew", "username", "alice", "password", "wonderland"),
			"unknown provider": b.post("/auth/signin/none"), "no route": b.get("/auth/none"), "wrong method": b.get("/auth/signin/acme"), "no token": s.newBrowser().do(http.MethodPost, "/auth/signout", formContentType, ""),
			"provider down": b.get("/auth/callback/acme?code=x&state=y"), "Configuration": b.get("/auth/error?error=Configuration"), "AccessDenied": b.get("/auth/error?error=AccessDenied"),
		} {
			t.Run("R-211 "+name+" "+target, func(t *testing.T) {
				seen := a.Body.String() + a.location()
				for _, values := range a.Header() {
					seen += strings.Join(values, "\n")
				}
				if strings.HasPrefix(a.location(), siteOrigin+"/auth/signin") { // its page names the providers
					return
				}
				seen = strings.ReplaceAll(seen, "acme.example", "")
				if found := leaked.FindString(seen); found != "" {
					t.Errorf("%d reveals %q", a.Code, found)
				}
			})
		}
	}
	s := newSite(t)
	for code, status := range map[string]int{"": 200, "AccessDenied": 403, "Verification": 403, "Configuration": 500, "anything": 200} {
		t.Run("R-211 status of "+code, func(t *testing.T) {
			if a := s.newBrowser().get("/auth/error?error=" + code); a.Code != status {
				t.Errorf("status %d, want %d", a.Code, status)
			}
		})
	}
}

func TestPagesPanics(t *testing.T) {
	boom := func() { panic("boom") }
	for name, change := range map[string]func(*latchkey.Config){
		"sign-in callback": func(c *latchkey.Config) {
			c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { boom(); return nil }
		},
		"token callback": func(c *latchkey.Config) {
			c.Callbacks.Token = func(context.Context, latchkey.TokenInfo) (latchkey.Claims, error) { boom(); return nil, nil }
		},
		"redirect callback": func(c *latchkey.Config) {
			c.Callbacks.Redirect = func(context.Context, string, string) (string, error) { boom(); return "", nil }
		},
		"encoder": func(c *latchkey.Config) {
			c.Session.JWT.Encode = func(context.Context, latchkey.JWTParams) (string, error) { boom(); return "", nil }
			c.Session.JWT.Decode = func(context.Context, string, latchkey.JWTParams) (latchkey.Claims, error) { boom(); return nil, nil }
		},
	} {
		t.Run("R-212 "+name, func(t *testing.T) {
			s := newSite(t, change)
			site := httptest.NewServer(s.auth)
			defer site.Close()
			client := site.Client()
			client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			b := s.newBrowser()
			for range 2 { // the connection is used again
				form := url.Values{"csrfToken": {b.token()}, "username": {"alice"}, "password": {"wonderland"}, "callbackUrl": {"/x"}}
				r, _ := http.NewRequest(http.MethodPost, site.URL+"/auth/callback/crew", strings.NewReader(form.Encode()))
				r.Header.Set("Content-Type", formContentType)
				r.Header.Set("Cookie", csrfCookie+"="+b.jar[csrfCookie])
				res, err := client.Do(r)
				if err != nil {
					t.Fatalf("the connection died: %v", err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if c := (&answer{record(res)}).cookie("session-token"); c != nil && c.Value != "" {
					t.Error("a session is set")
				}
				if to := res.Header.Get("Location"); !strings.Contains(to, "/auth/error?error=") {
					t.Errorf("%d to %q", res.StatusCode, to)
				}
			}
			records := s.log.records(t)
			stacks := 0
			for _, r := range records {
				if strings.Contains(fmt.Sprint(r["stack"]), "security_pages_test") || strings.Contains(fmt.Sprint(r["stack"]), "security_credentials_test") {
					stacks++
				}
			}
			if stacks != 2 {
				t.Errorf("%d log entries with a stack for 2 panics", stacks)
			}
		})
	}
	t.Run("R-212 event handlers break nothing", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) {
			c.Events.SignIn = func(context.Context, latchkey.SignInEvent) error { panic("boom") }
		})
		if a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland"); !a.signsIn() {
			t.Errorf("%d to %q", a.Code, a.location())
		}
		if !strings.Contains(s.log.text(), "EventError") {
			t.Error("not logged")
		}
	})
	t.Run("R-212 a configuration that panics", func(t *testing.T) {
		usual := slog.Default() // there is no other log before there is a configuration
		slog.SetDefault(slog.New(slog.DiscardHandler))
		defer slog.SetDefault(usual)
		for name, configure := range map[string]func(context.Context, *latchkey.Request) (*latchkey.Config, error){
			"itself":  func(context.Context, *latchkey.Request) (*latchkey.Config, error) { panic("boom") },
			"nothing": func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return nil, nil },
			"in a hook": func(context.Context, *latchkey.Request) (*latchkey.Config, error) {
				return &latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Session: latchkey.SessionConfig{NewToken: func() string { panic("boom") }}}, nil
			},
		} {
			w := httptest.NewRecorder()
			newFunc(configure).ServeHTTP(w, httptest.NewRequest(http.MethodGet, siteOrigin+"/auth/session", nil))
			if w.Code != http.StatusInternalServerError || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d", name, w.Code)
			}
		}
	})
}

// record is an answer from the network as one from a recorder.
func record(res *http.Response) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	return w
}
